import type { Limits } from '../../plans/plan.ts';
import type { Usage } from '../rules/decision.ts';
import type { Kept } from './unsynced.ts';

/** A request of a key. If requests in one turn of the event loop have equal fields, they are decided in one batch. */
export interface KeyTake {
  readonly subject: string;
  readonly limits: Limits;
  readonly keyId: string;
  readonly nowMs: number;
}

/**
 * Decides on `count` requests as if they came one right after the other. Returns a function that converts the place of
 * a request in the batch into the usage of the request.
 */
export type TakeMany = (take: KeyTake, count: number, kept: Kept | null) => Promise<(place: number) => Usage>;

interface Waiter {
  readonly resolve: (usage: Usage) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly take: KeyTake;
  readonly waiters: Waiter[];
}

/**
 * Creates a function that collects the requests of each key until the end of the poll phase. Each batch is decided in
 * one call. A request with kept windows or a kept ban is sent alone. No timer delays a request.
 */
export function createTakeBatches(takeMany: TakeMany): (take: KeyTake, kept: Kept | null) => Promise<Usage> {
  let batches: Batch[] = [];
  /** The newest batch of each key. */
  const byKey = new Map<string, Batch>();

  function findBatch(take: KeyTake): Batch {
    const known = byKey.get(take.keyId);
    if (known !== undefined && areAlike(known.take, take)) return known;
    const batch = { take, waiters: [] };
    byKey.set(take.keyId, batch);
    if (batches.push(batch) === 1) setImmediate(sendAll);
    return batch;
  }

  function sendAll(): void {
    const gathered = batches;
    batches = [];
    byKey.clear();
    for (const batch of gathered) send(batch);
  }

  function send({ take, waiters }: Batch): void {
    takeMany(take, waiters.length, null).then(
      (usageAt) => {
        for (const [place, { resolve }] of waiters.entries()) resolve(usageAt(place));
      },
      (error) => {
        for (const { reject } of waiters) reject(error);
      },
    );
  }

  return (take, kept) =>
    kept === null
      ? new Promise((resolve, reject) => findBatch(take).waiters.push({ resolve, reject }))
      : takeMany(take, 1, kept).then((usageAt) => usageAt(0));
}

function areAlike(one: KeyTake, other: KeyTake): boolean {
  return one.limits === other.limits && one.nowMs === other.nowMs && one.subject === other.subject;
}
