/** The running deliveries. Each has a unique name. */
export interface Sendings {
  /** Starts a delivery, unless a delivery with the same name is running. */
  begin(name: string, work: () => Promise<void>): void;
  has(name: string): boolean;
  count(): number;
  /** Resolves when no delivery is running. */
  untilIdle(): Promise<void>;
  /** Throws the first error of a delivery since the last call, if there was one. */
  throwFailure(): void;
}

export function createSendings(): Sendings {
  const running = new Map<string, Promise<void>>();
  let failure: unknown = null;

  return {
    begin(name, work) {
      if (running.has(name)) return;
      const done = work()
        .catch((error) => {
          failure ??= error;
        })
        .finally(() => running.delete(name));
      running.set(name, done);
    },
    has: (name) => running.has(name),
    count: () => running.size,
    async untilIdle() {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
    throwFailure() {
      const thrown = failure;
      failure = null;
      if (thrown !== null) throw thrown;
    },
  };
}
