import { storeOverloaded } from '../store-errors.ts';
import { type Call, type Rows, sendBatch } from './batch.ts';
import { isUndone } from './faults.ts';
import { type Lend, waitingTasksMax } from './pool.ts';

interface Waiting {
  readonly call: Call;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates a queue for single statements of many callers. Sends those of one turn of the event loop together, at most
 * `callsMax` in one batch, which is one transaction (group commit). Each batch waits for a connection on its own. But
 * while `batchesMax` batches are under way, statements wait and form the next batch.
 */
export function createCallQueue(lend: Lend, callsMax: number, batchesMax = Infinity) {
  const underWay = new Set<Promise<void>>();
  let unsettled = 0;
  /** Number of unsettled statements whose batch has a connection. */
  let running = 0;
  const waiting: Waiting[] = [];
  let isGathering = false;

  function sendWaiting(): void {
    isGathering = false;
    while (waiting.length > 0 && underWay.size < batchesMax) {
      const batch = waiting.splice(0, callsMax);
      const sent = settle(batch, sendCalls, rejectWaiting).then(() => {
        underWay.delete(sent);
        unsettled -= batch.length;
        if (!isGathering) sendWaiting();
      });
      underWay.add(sent);
    }
  }

  const sendCalls: SendCalls = (calls) =>
    lend((client) => {
      running += calls.length;
      return sendBatch(client, calls).finally(() => {
        running -= calls.length;
      });
    });

  /** After a fault, rejects the statements that wait for a batch to end. They might wait for the next fault too. */
  function rejectWaiting(fault: unknown): void {
    if (isGathering) return;
    unsettled -= waiting.length;
    for (const { reject } of waiting.splice(0)) reject(fault);
  }

  return {
    /** Returns the rows of a statement. Throws `unavailable` if `waitingTasksMax` statements wait, and as `Lend` does. */
    run(call: Call): Promise<Rows> {
      if (unsettled - running >= waitingTasksMax) return Promise.reject(storeOverloaded());
      unsettled += 1;
      return new Promise((resolve, reject) => {
        waiting.push({ call, resolve, reject });
        if (isGathering || underWay.size === batchesMax) return;
        isGathering = true;
        setImmediate(sendWaiting);
      });
    },

    async drain(): Promise<void> {
      sendWaiting();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

type SendCalls = (calls: readonly Call[]) => Promise<readonly Rows[]>;

/** Sends a batch and settles its statements. If one fails, all are undone, and each is sent again separately. */
async function settle(
  batch: readonly Waiting[],
  sendCalls: SendCalls,
  onFault: (fault: unknown) => void,
): Promise<void> {
  try {
    const results = await sendCalls(batch.map(({ call }) => call));
    for (const [place, { resolve }] of batch.entries()) resolve(results[place] ?? []);
  } catch (error) {
    if (batch.length > 1 && isUndone(error)) {
      await Promise.all(batch.map((one) => settle([one], sendCalls, onFault)));
      return;
    }
    for (const { reject } of batch) reject(error);
    if (!isUndone(error)) onFault(error);
  }
}
