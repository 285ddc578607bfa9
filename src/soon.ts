/** A value, or the promise of one. A failure throws, or rejects the promise. */
export type Soon<T> = T | Promise<T>;

/** Applies a function to a value, or to a promised value when it arrives. */
export function after<T, U>(value: Soon<T>, make: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(make) : make(value);
}

/** Calls `then` at once with a plain value, later with a promised one. */
export function settle<T>(value: Soon<T>, then: (value: T) => void, fail: (error: Error) => void): void {
  if (value instanceof Promise) value.then(then).catch(fail);
  else then(value);
}
