/** Tasks that wait, grouped by owner. */
export interface FairQueue {
  /** Adds a task, which must not throw. Returns a function that removes it. */
  add(owner: string, task: () => void): () => void;
}

/**
 * Runs at most `perTurn` tasks in each turn of the event loop, one of each owner in turn (round robin). Other work runs
 * between turns, and an owner with few tasks does not wait for one with many.
 */
export function createFairQueue(perTurn: number): FairQueue {
  const waiting = new Map<string, Set<() => void>>();
  let isScheduled = false;

  function takeNext(): (() => void) | undefined {
    for (const [owner, tasks] of waiting)
      for (const task of tasks) {
        remove(owner, task);
        // The owner moves to the end.
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

  function runSome(): void {
    for (let count = 0; count < perTurn; count += 1) takeNext()?.();
    isScheduled = waiting.size > 0;
    if (isScheduled) setImmediate(runSome);
  }

  return {
    add(owner, task) {
      const tasks = waiting.get(owner);
      if (tasks === undefined) waiting.set(owner, new Set([task]));
      else tasks.add(task);
      if (!isScheduled) setImmediate(runSome);
      isScheduled = true;
      return () => remove(owner, task);
    },
  };
}
