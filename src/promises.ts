/** A value, or a promise of it. A failure throws, or rejects the promise. */
export type Soon<T> = T | Promise<T>;

/** Applies `make` to a value at once, or to a promised value when it arrives. */
export function after<T, U>(value: Soon<T>, make: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(make) : make(value);
}

/** Makes calls one at a time, in the order in which they are asked for. */
export function oneAtATime<I, O>(call: (input: I) => Promise<O>) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(input: I): Promise<O> {
      const running = last.then(() => call(input));
      last = running.catch(() => undefined);
      return running;
    },
    /** Waits for all calls that were asked for. */
    async drain(): Promise<void> {
      await last;
    },
  };
}
