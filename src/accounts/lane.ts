/** Maximum numbers of running tasks, of waiting tasks, and of waiting tasks per address. */
export interface LaneBounds {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerAddressMax: number;
}

/** Runs a bounded number of tasks at once. Fair queueing: the addresses of waiting tasks take turns. */
export interface Lane {
  /** Runs a task when its turn comes, and returns its result. Returns null at once if too many tasks wait. */
  run<T>(address: string, task: () => Promise<T>): Promise<T | SentAway> | null;
  /** Removes all waiting tasks of an address. Their result is `sentAway`. */
  sendAway(address: string): void;
}

/** The result of a task that was removed before it ran. */
export const sentAway = Symbol('sent away');
/** The type of `sentAway`. */
export type SentAway = typeof sentAway;

interface Waiting {
  start(): void;
  leave(): void;
}

/** Creates an empty lane. */
export function createLane({ runningMax, waitingMax, waitingPerAddressMax }: LaneBounds): Lane {
  /** The waiting tasks by address. The first address has the next turn. */
  const queues = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;

  async function runNow<T>(task: () => Promise<T>): Promise<T> {
    running += 1;
    try {
      return await task();
    } finally {
      running -= 1;
      startNext();
    }
  }

  function startNext(): void {
    const [next] = queues;
    if (next === undefined) return;
    const [address, queue] = next;
    const first = queue.shift();
    queues.delete(address);
    if (queue.length > 0) queues.set(address, queue);
    waiting -= 1;
    first?.start();
  }

  return {
    run(address, task) {
      if (running < runningMax) return runNow(task);
      const queue = queues.get(address) ?? [];
      if (waiting >= waitingMax || queue.length >= waitingPerAddressMax) return null;
      waiting += 1;
      queues.set(address, queue);
      return new Promise((resolve) =>
        queue.push({ start: () => resolve(runNow(task)), leave: () => resolve(sentAway) }),
      );
    },

    sendAway(address) {
      const queue = queues.get(address) ?? [];
      queues.delete(address);
      waiting -= queue.length;
      for (const { leave } of queue) leave();
    },
  };
}
