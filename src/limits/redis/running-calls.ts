/** Waiting time is counted in checks, not by the clock. So a pause of this process does not count as waiting. */
const checkEveryMs = 50;
const checksAsNextMax = 5;
const checksMax = 40;

interface Call {
  readonly sinceCheck: number;
  readonly fail: (error: Error) => void;
}

/** The running calls, oldest first. */
export interface RunningCalls {
  /** Returns the answer to a call. Rejects if `failAll` comes first. `onError` gets only errors of the call itself. */
  follow<T>(answer: Promise<T>, onError: (error: Error) => void): Promise<T>;
  failAll(reason: Error): void;
  stop(): void;
}

/**
 * Watches calls until `stop`. Calls `giveUp` if the oldest call waits for `checksAsNextMax` checks after it became
 * the oldest, or for `checksMax` checks in total.
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
