/** Takes a task of someone, to run when their turn has come; gives what calls it off. A task must not throw. */
export type Rota = (owner: string, task: () => void) => () => void;

/** How many tasks run in a turn of the event loop. */
export interface Pace {
  /** Where turns are long, so that others wait for them, and nobody arrives; an even number. */
  readonly least: number;
  /** Where they are short, after a few of them. */
  readonly most: number;
}

/** A turn is short that takes less, in milliseconds. */
export const shortTurnMs = 10;
/** For how long tasks give way to those who arrive before some are run. */
const giveWayMsMax = 10;
/** How many tasks more than the least keep pace with those who arrive while turns are long. */
export const arrivedPerTurn = 8;

/**
 * Runs tasks, some in each turn of the event loop and one of each owner after the other: however many wait, what else
 * comes is served in between, and who has few of them does not wait for those who have many. In a turn in which the
 * arrivals have become more none is run, for a while: Node takes one new connection a turn, and more may be waiting.
 */
export function createRota({ least, most }: Pace, countArrivals: () => number): Rota {
  const waiting = new Map<string, Set<() => void>>();
  let isScheduled = false;
  let count = least;
  let lastAtMs = 0;
  let longestMs = 0;
  let givingWayMs = 0;
  let isGivingWay = false;
  let arrivals = 0;
  let arrivalsServed = 0;

  function takeNext(): (() => void) | undefined {
    for (const [owner, tasks] of waiting)
      for (const task of tasks) {
        remove(owner, task);
        // Who has more goes to the end.
        if (waiting.delete(owner)) waiting.set(owner, tasks);
        return task;
      }
    return undefined;
  }

  function remove(owner: string, task: () => void): void {
    const tasks = waiting.get(owner);
    tasks?.delete(task);
    if (tasks?.size === 0) waiting.delete(owner);
  }

  function givesWay(tookMs: number): boolean {
    const before = arrivals;
    arrivals = countArrivals();
    if (isGivingWay) givingWayMs += tookMs;
    isGivingWay = arrivals > before && givingWayMs < giveWayMsMax;
    if (!isGivingWay) givingWayMs = 0;
    return isGivingWay;
  }

  /** By the longest turn since tasks were run: those in which they gave way are short. */
  function setPace(tookMs: number): void {
    const arrived = Math.min(arrivals - arrivalsServed, arrivedPerTurn);
    arrivalsServed = arrivals;
    count = tookMs < shortTurnMs ? Math.min(2 * count, most) : Math.max(least, arrived);
  }

  function runSome(): void {
    const nowMs = performance.now();
    const tookMs = nowMs - lastAtMs;
    lastAtMs = nowMs;
    longestMs = Math.max(longestMs, tookMs);
    if (!givesWay(tookMs)) {
      setPace(longestMs);
      longestMs = 0;
      for (let index = 0; index < count; index += 1) takeNext()?.();
    }
    isScheduled = waiting.size > 0;
    if (isScheduled) setImmediate(runSome);
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    // The first turn doubles it.
    count = least / 2;
    lastAtMs = performance.now();
    setImmediate(runSome);
  }

  return (owner, task) => {
    const tasks = waiting.get(owner);
    if (tasks === undefined) waiting.set(owner, new Set([task]));
    else tasks.add(task);
    schedule();
    return () => remove(owner, task);
  };
}
