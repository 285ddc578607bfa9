/** Tasks that wait for their turn, by owner. */
export interface FairQueue {
  /** Adds a task, which must not throw; gives what withdraws it. */
  add(owner: string, task: () => void): () => void;
}

/**
 * Runs at most `perTurn` tasks in each turn of the event loop, one of each owner after the other (round robin): however
 * many tasks wait, others are served in between, and an owner with few does not wait for one with many.
 */
export function createFairQueue(perTurn: number): FairQueue {
  const waiting = new Map<string, Set<() => void>>();
  let isScheduled = false;

  function takeNext(): (() => void) | undefined {
    for (const [owner, tasks] of waiting)
      for (const task of tasks) {
        remove(owner, task);
        // An owner with more tasks goes to the end.
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
