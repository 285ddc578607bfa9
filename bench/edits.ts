import { setTimeout as pause } from 'node:timers/promises';
import { exchange, type Request, type RequestHeaders } from './exchange.ts';
import { randomIds } from './ids.ts';
import type { SeededStore } from './store.ts';
import { withKey } from './subjects.ts';
import { listRenames } from './writes.ts';

/** Changes animals during a load. */
export interface Edits {
  /** Runs a task and meanwhile makes a fixed number of edits a second, one after the other. Throws if an edit fails. */
  beside<T>(task: Promise<T>): Promise<T>;
}

const pauseMs = 5;

/** Creates edits at an even pace. Each edit changes the next animal of a list, also across several tasks. */
export function createEdits(origin: string, store: SeededStore, perSecond: number): Edits {
  const requests = listRenames(randomIds(store.animals));
  const headers: RequestHeaders = withKey(store);
  let done = 0;

  async function editUntil(isOver: () => boolean): Promise<void> {
    const startedMs = performance.now();
    for (let edits = 0; !isOver(); ) {
      const due = ((performance.now() - startedMs) * perSecond) / 1_000;
      if (edits >= due) {
        await pause(pauseMs);
        continue;
      }
      await exchange(origin, requests[done % requests.length] as Request, headers);
      edits += 1;
      done += 1;
    }
  }

  return {
    async beside(task) {
      let isOver = false;
      const watched = task.finally(() => {
        isOver = true;
      });
      const [result] = await Promise.all([watched, editUntil(() => isOver)]);
      return result;
    },
  };
}
