/** A queue of tasks that is fair between their owners. */
export interface FairQueue {
  /** Adds a task. The task must not throw. Returns a function that removes the task. */
  add(owner: string, task: () => void): () => void;
}

/**
 * Runs at most `perTurn` tasks in each turn of the event loop, so that I/O is handled in between. The owners take turns
 * (round robin), so an owner with many tasks does not delay the others.
 */
export function createFairQueue(perTurn: number): FairQueue {
  const waiting = new Map<string, Set<() => void>>();
  let isScheduled = false;

  function takeNext(): (() => void) | undefined {
    for (const [owner, tasks] of waiting)
      for (const task of tasks) {
        remove(owner, task);
        // If the owner has more tasks, the owner moves to the end of the round.
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
