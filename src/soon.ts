/** A value, or a promise of it. A failure throws, or rejects the promise. */
export type Soon<T> = T | Promise<T>;

/** Applies `make` to a value at once, or to a promised value when it arrives. */
export function after<T, U>(value: Soon<T>, make: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(make) : make(value);
}
