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
