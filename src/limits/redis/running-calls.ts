/** Waiting is measured in looks, not by a clock: while this process stands still, so does its patience. */
const lookEveryMs = 50;
const looksAsNextMax = 5;
const looksMax = 40;

interface Call {
  readonly sinceLook: number;
  readonly fail: (error: Error) => void;
}

/** The calls that run, in the order in which they are to be answered. */
export interface RunningCalls {
  /** The answer to a call, unless all fail before it comes; `onError` learns of an error that is the call's own. */
  follow<T>(answer: Promise<T>, onError: (error: Error) => void): Promise<T>;
  failAll(reason: Error): void;
  /** Looks no more. */
  stop(): void;
}

/** Looks after calls until it is stopped: gives up once one waits too long, as the next to be answered or in all. */
export function watchCalls(giveUp: (reason: Error) => void): RunningCalls {
  const running = new Set<Call>();
  let looks = 0;
  let next: Call | undefined;
  let nextSinceLook = 0;
  const watch = setInterval(look, lookEveryMs);
  watch.unref();

  function look(): void {
    looks += 1;
    const [oldest] = running;
    if (oldest !== next) nextSinceLook = looks;
    next = oldest;
    if (oldest === undefined) return;
    const waitsTooLong = looks - nextSinceLook >= looksAsNextMax || looks - oldest.sinceLook >= looksMax;
    if (waitsTooLong) giveUp(new Error('Redis does not answer'));
  }

  return {
    follow: (answer, onError) =>
      new Promise((resolve, reject) => {
        const call = { sinceLook: looks, fail: reject };
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
