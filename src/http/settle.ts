/** Goes on within the call with a plain value, later with a promised one. */
export function settle<T>(
  value: T | Promise<T>,
  then: (value: T) => void,
  fail: (error: Error) => void,
): void {
  if (value instanceof Promise) value.then(then).catch(fail);
  else then(value);
}
