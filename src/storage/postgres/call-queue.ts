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

interface QueueOptions<C, R> {
  readonly lend: Lend;
  readonly send: Send<C, R>;
  readonly callsMax: number;
  readonly batchesMax?: number;
  /** Sends a call of a batch that was undone. Default: as a batch of its own, unless it was one already. */
  readonly sendAlone?: (call: C) => Promise<R>;
}

/**
 * Creates a queue for the calls of many callers. Sends those of one turn of the event loop together, at most `callsMax`
 * in one batch, which is one transaction (group commit). Each batch waits for a connection on its own. But while
 * `batchesMax` batches run, for at most `holdMsMax`, calls wait and form the next batch.
 */
export function createCallQueue<C, R>(options: QueueOptions<C, R>) {
  const { lend, send, callsMax, batchesMax = Infinity, sendAlone } = options;
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
    const sent = settle(batch, sendCalls, sendAlone, rejectWaiting);
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

/** Sends a batch and settles its calls. If it was undone, each is sent again. */
async function settle<C, R>(
  batch: readonly Waiting<C, R>[],
  sendCalls: (calls: readonly C[]) => Promise<readonly R[]>,
  sendAlone: ((call: C) => Promise<R>) | undefined,
  onFault: (fault: unknown) => void,
): Promise<void> {
  try {
    const results = await sendCalls(batch.map(({ call }) => call));
    for (const [place, { resolve }] of batch.entries()) resolve(results[place] as R);
  } catch (error) {
    if (!isUndone(error)) onFault(error);
    else if (sendAlone !== undefined || batch.length > 1) {
      const send = sendAlone ?? (async (call) => (await sendCalls([call]))[0] as R);
      await Promise.all(batch.map(({ call, resolve, reject }) => send(call).then(resolve, reject)));
      return;
    }
    for (const { reject } of batch) reject(error);
  }
}
