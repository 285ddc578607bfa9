import { setTimeout } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { storeOverloaded } from '../store-errors.ts';
import { isUndone } from './faults.ts';
import { type Lend, waitingTasksMax } from './pool.ts';

interface Waiting<C, R> {
  readonly call: C;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends calls in one transaction and returns the result of each. If it throws, all are undone. */
type Send<C, R> = (client: ClientBase, calls: readonly C[]) => Promise<readonly R[]>;

/** Time in ms after which the next batch no longer waits for a batch that is slow, or that waits for a row. */
const holdMsMax = 50;

/**
 * Creates a queue for the calls of many callers. Sends those of one turn of the event loop together, at most `callsMax`
 * in one batch, which is one transaction (group commit). Each batch waits for a connection on its own. But while
 * `batchesMax` batches run, for at most `holdMsMax`, calls wait and form the next batch.
 */
export function createCallQueue<C, R>(lend: Lend, send: Send<C, R>, callsMax: number, batchesMax = Infinity) {
  const underWay = new Set<Promise<unknown>>();
  let batches = 0;
  let withoutConnection = 0;
  const waiting: Waiting<C, R>[] = [];
  let isGathering = false;

  function sendWaiting(): void {
    isGathering = false;
    for (; waiting.length > 0 && batches < batchesMax; batches += 1) {
      const sent: Promise<unknown> = sendBatch(waiting.splice(0, callsMax)).then(() => underWay.delete(sent));
      underWay.add(sent);
    }
  }

  async function sendBatch(batch: readonly Waiting<C, R>[]): Promise<void> {
    const sent = settle(batch, sendCalls, rejectWaiting);
    const held = batchesMax < Infinity ? [setTimeout(holdMsMax, undefined, { ref: false })] : [];
    await Promise.race([sent, ...held]);
    batches -= 1;
    if (!isGathering) sendWaiting();
    await sent;
    withoutConnection -= batch.length;
  }

  const sendCalls = (calls: readonly C[]) =>
    lend((client) => {
      withoutConnection -= calls.length;
      return send(client, calls).finally(() => {
        withoutConnection += calls.length;
      });
    });

  /** After a fault, rejects the calls that wait for a batch to end. They might wait for the next fault too. */
  function rejectWaiting(fault: unknown): void {
    if (isGathering) return;
    withoutConnection -= waiting.length;
    for (const { reject } of waiting.splice(0)) reject(fault);
  }

  return {
    /** Returns the result of a call. Throws `unavailable` if `waitingTasksMax` calls wait, and as `Lend` does. */
    run(call: C): Promise<R> {
      if (withoutConnection >= waitingTasksMax) return Promise.reject(storeOverloaded());
      withoutConnection += 1;
      return new Promise((resolve, reject) => {
        waiting.push({ call, resolve, reject });
        if (isGathering || batches === batchesMax) return;
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
async function settle<C, R>(
  batch: readonly Waiting<C, R>[],
  sendCalls: (calls: readonly C[]) => Promise<readonly R[]>,
  onFault: (fault: unknown) => void,
): Promise<void> {
  try {
    const results = await sendCalls(batch.map(({ call }) => call));
    for (const [place, { resolve }] of batch.entries()) resolve(results[place] as R);
  } catch (error) {
    if (batch.length > 1 && isUndone(error)) {
      await Promise.all(batch.map((one) => settle([one], sendCalls, onFault)));
      return;
    }
    for (const { reject } of batch) reject(error);
    if (!isUndone(error)) onFault(error);
  }
}
