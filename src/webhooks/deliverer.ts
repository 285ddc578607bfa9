import { setImmediate as nextTurn } from 'node:timers/promises';
import { secondMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { type AttemptParts, createTurns, pass } from './attempts.ts';
import { type DueRow, selectDue, selectRequested } from './delivery-rows.ts';
import { bodyMsMax } from './post-message.ts';
import { attemptMsMax } from './rules/retry.ts';
import { createSendings } from './sendings.ts';

export interface DelivererParts extends Omit<AttemptParts, 'mayBegin' | 'signal'> {
  /** Milliseconds until the lease of this instance expires. 0 without the lease. */
  readonly leftMs: () => number;
  /** Maximum number of messages that are sent at the same time, and so of connections to receivers. */
  readonly sendingsMax?: number;
}

/**
 * An attempt starts only if this much time of the lease is left. The attempt then ends before the lease expires, so
 * that two instances never send to the same webhook at the same time.
 */
const leftMsMin = attemptMsMax + bodyMsMax + secondMs / 2;

/** Number of webhooks in one read. Each needs several index searches, and SQLite reads synchronously. */
const dueRows = 100;
/** Number of webhooks with requested messages in one read. */
const requestedRows = 1_000;

/** What `createDeliverer` returns. */
export type Deliverer = ReturnType<typeof createDeliverer>;

/**
 * Creates a deliverer, which sends the events of a webhook one at a time, in feed order. If more than `sendingsMax`
 * webhooks have events, they take turns, and each turn sends one event.
 */
export function createDeliverer({ leftMs, sendingsMax = 200, ...parts }: DelivererParts) {
  const { database } = parts;
  const stopping = new AbortController();
  let isEnding = false;
  const mayBegin = () => !isEnding && leftMs() >= leftMsMin;
  const { sendEvent, sendRequested } = createTurns({ ...parts, mayBegin, signal: stopping.signal });
  const sendings = createSendings(sendingsMax);

  async function beginRequested(): Promise<void> {
    for (const { id } of await database.read(selectRequested, { count: BigInt(requestedRows) }))
      sendings.add(`${id} requested`, () => sendRequested(id));
  }

  /** Starts the next event of each webhook, and advances the webhooks that have none. */
  async function beginEvents(due: readonly DueRow[]): Promise<void> {
    const passed: DueRow[] = [];
    for (const row of due) {
      const name = String(row.id);
      if (row.next_id !== null) sendings.add(name, () => sendEvent(row.id));
      else if (!sendings.has(name)) passed.push(row);
    }
    const [first] = passed;
    if (first !== undefined) await pass(database, passed, first.newest);
  }

  return {
    /**
     * Starts the deliveries that are due. Every instance calls this regularly, but only the instance with the lease
     * sends. Throws the errors of the database. Throws an AggregateError with the errors of deliveries that have failed
     * unexpectedly since the last call.
     */
    async look(): Promise<void> {
      if (mayBegin()) await beginRequested();
      for await (const due of listDue(database, mayBegin)) await beginEvents(due);
      sendings.throwFailures();
    },

    /** Resolves when no delivery is running. Throws an AggregateError like `look`. */
    async untilIdle(): Promise<void> {
      await sendings.untilIdle();
      sendings.throwFailures();
    },

    /**
     * Starts no more deliveries, and aborts the running deliveries after `graceMs`. An aborted delivery records no
     * result, so the next instance sends its event again.
     */
    async stop(graceMs: number): Promise<void> {
      isEnding = true;
      await Promise.race([sendings.untilIdle(), pause(graceMs)]);
      stopping.abort();
      await sendings.untilIdle();
    },
  };
}

/** Yields the webhooks that are due, farthest behind first, while `mayBegin` returns true. */
async function* listDue(database: Database, mayBegin: () => boolean): AsyncGenerator<readonly DueRow[]> {
  const after = { afterPosition: -1n, afterId: 0n };
  while (mayBegin()) {
    const due = await database.read(selectDue, { ...after, count: BigInt(dueRows) });
    yield due;
    const last = due.at(-1);
    if (last === undefined || due.length < dueRows) return;
    after.afterPosition = last.position;
    after.afterId = last.id;
    await nextTurn();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
