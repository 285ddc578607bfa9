import { storeOverloaded, storeUnavailable } from '../store-errors.ts';

/** The tasks of one account. */
interface Line {
  running: number;
  /** Each begins a task, in the order of their arrival. */
  readonly waiting: Set<() => void>;
}

interface Bounds {
  readonly max: number;
  readonly ofAccountMax: number;
  readonly waitingMax: number;
  readonly waitMsMax: number;
}

/**
 * Lets at most `max` tasks run at once, and `ofAccountMax` of one account. Tasks without an account have only the first
 * bound. The others wait, and accounts take turns, so that no account waits for all tasks of another.
 *
 * A task that cannot begin within `waitMsMax` is refused as `unavailable`, and at once if `waitingMax` tasks of its account
 * wait already.
 */
export function createFairQueue({ max, ofAccountMax, ...waits }: Bounds) {
  const lines = new Map<bigint | undefined, Line>();
  let running = 0;

  function beginNext(): void {
    for (const [account, line] of lines) {
      if (running === max) return;
      const [begin] = line.waiting;
      if (begin === undefined || (account !== undefined && line.running === ofAccountMax)) continue;
      line.waiting.delete(begin);
      line.running += 1;
      running += 1;
      // The account goes to the end of the map, so that the others are next.
      lines.delete(account);
      lines.set(account, line);
      begin();
    }
  }

  return {
    async run<T>(account: bigint | undefined, task: () => Promise<T>): Promise<T> {
      const line = lines.get(account) ?? { running: 0, waiting: new Set() };
      lines.set(account, line);
      try {
        const turn = waitInLine(line, waits);
        beginNext();
        await turn;
        try {
          return await task();
        } finally {
          line.running -= 1;
          running -= 1;
          beginNext();
        }
      } finally {
        if (line.running + line.waiting.size === 0) lines.delete(account);
      }
    },
    countWaiting: () => lines.values().reduce((sum, { waiting }) => sum + waiting.size, 0),
  };
}

async function waitInLine(
  { waiting }: Line,
  { waitingMax, waitMsMax }: Pick<Bounds, 'waitingMax' | 'waitMsMax'>,
): Promise<void> {
  if (waiting.size >= waitingMax) throw storeOverloaded();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  waiting.add(resolve);
  const late = setTimeout(() => {
    waiting.delete(resolve);
    reject(storeUnavailable(new Error('other writes hold all connections that this one may use')));
  }, waitMsMax);
  return promise.finally(() => clearTimeout(late));
}
