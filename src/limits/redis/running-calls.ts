/** Waiting is counted in checks, not in clock time, so that a pause of this process does not count as waiting. */
const checkEveryMs = 50;
const checksAsNextMax = 5;
const checksMax = 40;

interface Call {
  readonly sinceCheck: number;
  readonly fail: (error: Error) => void;
}

/** The running calls, in the order of their answers. */
export interface RunningCalls {
  /** The answer to a call, unless `failAll` comes first. `onError` gets the call's own error. */
  follow<T>(answer: Promise<T>, onError: (error: Error) => void): Promise<T>;
  failAll(reason: Error): void;
  /** Stops checking. */
  stop(): void;
}

/**
 * Watches calls until it is stopped. Calls `giveUp` when a call waits too long, as the next to be answered or in
 * total.
 */
export function watchCalls(giveUp: (reason: Error) => void): RunningCalls {
  const running = new Set<Call>();
  let checks = 0;
  let next: Call | undefined;
  let nextSinceCheck = 0;
  const watch = setInterval(check, checkEveryMs);
  watch.unref();

  function check(): void {
    checks += 1;
    const [oldest] = running;
    if (oldest !== next) nextSinceCheck = checks;
    next = oldest;
    if (oldest === undefined) return;
    const waitsTooLong =
      checks - nextSinceCheck >= checksAsNextMax || checks - oldest.sinceCheck >= checksMax;
    if (waitsTooLong) giveUp(new Error('Redis does not answer'));
  }

  return {
    follow: (answer, onError) =>
      new Promise((resolve, reject) => {
        const call = { sinceCheck: checks, fail: reject };
        running.add(call);
        answer.then(
          (value) => {
            running.delete(call);
            resolve(value);
          },
          (error: Error) => {
            running.delete(call);
            reject(error);
            onError(error);
          },
        );
      }),
    failAll(reason) {
      for (const { fail } of running) fail(reason);
      running.clear();
    },
    stop: () => clearInterval(watch),
  };
}
