/** Takes a task of someone, to run when their turn has come; gives what calls it off. */
export type Rota = (owner: string, task: () => void) => () => void;

/** For how many turns in a row tasks give way to those who come in. */
const deferralsMax = 64;

/**
 * Runs tasks, so many in each turn of the event loop and one of each owner after the other: however many wait, what else
 * comes is served in between, and who has few of them does not wait for those who have many. In a turn in which the
 * arrivals have become more none is run, for a while: Node takes one new connection a turn, and more may be waiting.
 */
export function createRota(tasksPerTurn: number, countArrivals: () => number): Rota {
  const waiting = new Map<string, Set<() => void>>();
  let isScheduled = false;
  let arrivals = 0;
  let deferrals = 0;

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

  function givesWay(): boolean {
    const before = arrivals;
    arrivals = countArrivals();
    deferrals = arrivals > before && deferrals < deferralsMax ? deferrals + 1 : 0;
    return deferrals > 0;
  }

  function runSome(): void {
    const count = givesWay() ? 0 : tasksPerTurn;
    for (let index = 0; index < count; index += 1) takeNext()?.();
    isScheduled = waiting.size > 0;
    if (isScheduled) setImmediate(runSome);
  }

  return (owner, task) => {
    const tasks = waiting.get(owner);
    if (tasks === undefined) waiting.set(owner, new Set([task]));
    else tasks.add(task);
    if (!isScheduled) setImmediate(runSome);
    isScheduled = true;
    return () => remove(owner, task);
  };
}
