import { storeOverloaded } from '../store-errors.ts';
import { type Call, type Rows, sendBatch } from './batch.ts';
import { connectMsMax } from './client.ts';
import { isUndone } from './faults.ts';
import { type Lend, waitingTasksMax } from './pool.ts';

/** Single statements of many callers, which share round trips. */
export interface CallQueue {
  /** Returns the rows of a statement. Throws `unavailable` if `waitingTasksMax` statements already wait. */
  run(call: Call): Promise<Rows>;
  /** Resolves when all statements are settled. */
  drain(): Promise<void>;
}

interface Waiting {
  readonly call: Call;
  readonly sinceMs: number;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the statements of one turn of the event loop together, at the end of its poll phase, and at most `callsMax` in
 * one batch. While `batchesMax` batches are under way, statements wait and form the next batch. A single statement does
 * not wait for others. A batch is one transaction, so one that writes commits all its statements (group commit).
 */
export function createCallQueue(lend: Lend, callsMax: number, batchesMax: number): CallQueue {
  const underWay = new Set<Promise<void>>();
  let waiting: Waiting[] = [];
  let isGathering = false;

  function sendWaiting(): void {
    isGathering = false;
    while (waiting.length > 0 && underWay.size < batchesMax) {
      const sent = send(waiting.splice(0, callsMax)).then(() => {
        underWay.delete(sent);
        if (!isGathering) sendWaiting();
      });
      underWay.add(sent);
    }
  }

  /** If one statement fails, the server rolls back the batch. Then each statement is sent again separately. */
  async function send(batch: readonly Waiting[]): Promise<void> {
    try {
      const calls = batch.map(({ call }) => call);
      const results = await lend((client) => sendBatch(client, calls));
      for (const [place, { resolve }] of batch.entries()) resolve(results[place] ?? []);
    } catch (error) {
      if (batch.length > 1 && isUndone(error)) await Promise.all(batch.map((one) => send([one])));
      else fail(batch, error);
    }
  }

  /**
   * Rejects the statements of a failed batch. After a fault, also rejects those that have waited longer than
   * `connectMsMax`. Otherwise they would wait for the next fault too.
   */
  function fail(batch: readonly Waiting[], error: unknown): void {
    for (const { reject } of batch) reject(error);
    if (isUndone(error)) return;
    const lastMs = performance.now() - connectMsMax;
    const late = waiting.filter(({ sinceMs }) => sinceMs < lastMs);
    waiting = waiting.filter(({ sinceMs }) => sinceMs >= lastMs);
    for (const { reject } of late) reject(error);
  }

  return {
    run(call) {
      if (waiting.length >= waitingTasksMax) return Promise.reject(storeOverloaded());
      return new Promise((resolve, reject) => {
        waiting.push({ call, sinceMs: performance.now(), resolve, reject });
        if (isGathering || underWay.size === batchesMax) return;
        isGathering = true;
        setImmediate(sendWaiting);
      });
    },

    async drain() {
      sendWaiting();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
