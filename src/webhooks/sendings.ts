import { minuteMs } from '../clock.ts';

/**
 * The end of a turn. `more`: there may be more to send in another turn. `held`: nothing can be sent now, so the delivery
 * stops for `heldMs`.
 */
export type Turn = 'more' | 'done' | 'held';

type TakeTurn = () => Promise<Turn>;

/**
 * Time for which a delivery stops that is held or has failed unexpectedly. The store may not have the failure, so
 * nothing else keeps the delivery from failing again at once.
 */
const heldMs = minuteMs / 2;

/**
 * Creates a queue of the deliveries that wait for a turn. Each has a unique name. At most `runningMax` deliveries run at the same time. A delivery that needs another turn goes to
 * the end of the queue, so each delivery gets its next turn after at most one turn of every other.
 */
export function createSendings(runningMax: number) {
  const waiting = new Map<string, TakeTurn>();
  const running = new Map<string, Promise<void>>();
  /** The times of `performance.now()` at which held deliveries may run again. */
  const held = new Map<string, number>();
  const failures: unknown[] = [];

  function fill(): void {
    for (const [name, takeTurn] of waiting) {
      if (running.size >= runningMax) return;
      waiting.delete(name);
      running.set(name, run(name, takeTurn));
    }
  }

  async function run(name: string, takeTurn: TakeTurn): Promise<void> {
    const turn = await takeTurn().catch((error): Turn => {
      failures.push(error);
      return 'held';
    });
    running.delete(name);
    if (turn === 'held') held.set(name, performance.now() + heldMs);
    if (turn === 'more') waiting.set(name, takeTurn);
    fill();
  }

  /** Returns true if the delivery runs or waits, or was held within the last `heldMs`. */
  function has(name: string): boolean {
    if ((held.get(name) ?? 0) > performance.now()) return true;
    held.delete(name);
    return running.has(name) || waiting.has(name);
  }

  return {
    /** Appends a delivery to the queue, unless `has` returns true for its name. */
    add(name: string, takeTurn: TakeTurn): void {
      if (has(name)) return;
      waiting.set(name, takeTurn);
      fill();
    },
    has,
    /** Resolves when no delivery runs or waits. */
    async untilIdle(): Promise<void> {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
    /** Throws an AggregateError with all errors of deliveries since the last call, if there were any. */
    throwFailures(): void {
      const thrown = failures.splice(0);
      if (thrown.length > 0) throw new AggregateError(thrown, `${thrown.length} deliveries failed`);
    },
  };
}
