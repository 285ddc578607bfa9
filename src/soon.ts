/** A value that is there within the call, or is promised; what fails throws, or is rejected. */
export type Soon<T> = T | Promise<T>;

/** Makes something of a value, within the call if both are there. */
export function after<T, U>(value: Soon<T>, make: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(make) : make(value);
}

/** Goes on within the call with a plain value, later with a promised one. */
export function settle<T>(value: Soon<T>, then: (value: T) => void, fail: (error: Error) => void): void {
  if (value instanceof Promise) value.then(then).catch(fail);
  else then(value);
}
