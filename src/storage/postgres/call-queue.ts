import type { ClientBase } from 'pg';
import { storeOverloaded } from '../store-errors.ts';
import { isUndone } from './faults.ts';
import { type Lend, waitingTasksMax } from './pool.ts';

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends calls in one transaction and returns the result of each. Throws if one fails: then all are undone. */
type SendCalls<Call, Result> = (client: ClientBase, calls: readonly Call[]) => Promise<readonly Result[]>;

/**
 * Creates a queue for the calls of many callers. Sends those of one turn of the event loop together, at most `callsMax`
 * in one batch, which is one transaction (group commit). Each batch waits for a connection on its own. But while
 * `batchesMax` batches are under way, calls wait and form the next batch.
 */
export function createCallQueue<Call, Result>(
  lend: Lend,
  send: SendCalls<Call, Result>,
  callsMax: number,
  batchesMax = Infinity,
) {
  const underWay = new Set<Promise<void>>();
  let unsettled = 0;
  /** Number of unsettled calls whose batch has a connection. */
  let running = 0;
  const waiting: Waiting<Call, Result>[] = [];
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

  const sendCalls = (calls: readonly Call[]) =>
    lend((client) => {
      running += calls.length;
      return send(client, calls).finally(() => {
        running -= calls.length;
      });
    });

  /** After a fault, rejects the calls that wait for a batch to end. They might wait for the next fault too. */
  function rejectWaiting(fault: unknown): void {
    if (isGathering) return;
    unsettled -= waiting.length;
    for (const { reject } of waiting.splice(0)) reject(fault);
  }

  return {
    /** Returns the result of a call. Throws `unavailable` if `waitingTasksMax` calls wait, and as `Lend` does. */
    run(call: Call): Promise<Result> {
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

/** Sends a batch and settles its calls. If one fails, all are undone, and each is sent again separately. */
async function settle<Call, Result>(
  batch: readonly Waiting<Call, Result>[],
  sendCalls: (calls: readonly Call[]) => Promise<readonly Result[]>,
  onFault: (fault: unknown) => void,
): Promise<void> {
  try {
    const results = await sendCalls(batch.map(({ call }) => call));
    for (const [place, { resolve }] of batch.entries()) resolve(results[place] as Result);
  } catch (error) {
    if (batch.length > 1 && isUndone(error)) {
      await Promise.all(batch.map((one) => settle([one], sendCalls, onFault)));
      return;
    }
    for (const { reject } of batch) reject(error);
    if (!isUndone(error)) onFault(error);
  }
}
