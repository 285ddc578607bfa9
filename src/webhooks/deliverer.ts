import { setImmediate as nextTurn } from 'node:timers/promises';
import { secondMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { type AttemptParts, type Attempts, createAttempts, type DeliveryObserver } from './attempts.ts';
import { type DueRow, disableLost, passEvents, selectDue, selectRequested } from './delivery-rows.ts';
import { bodyMsMax } from './post-message.ts';
import { attemptMsMax } from './rules/retry.ts';
import { createSendings, type Turn } from './sendings.ts';
import type { WebhookRow } from './webhook.ts';

/** Sends events to webhooks. */
export interface Deliverer {
  /**
   * Starts the deliveries that are due. Every instance calls this regularly, but only the instance with the lease
   * sends. Throws the errors of the database. Throws an AggregateError with the errors of deliveries that have failed
   * unexpectedly since the last call.
   */
  look(): Promise<void>;
  /**
   * Resolves when no delivery is running. Throws an AggregateError with the errors of deliveries that have failed
   * unexpectedly since the last call.
   */
  untilIdle(): Promise<void>;
  /**
   * Starts no more deliveries, and aborts the running deliveries after `graceMs`. An aborted delivery records no
   * result, so the next instance sends its event again.
   */
  stop(graceMs: number): Promise<void>;
}

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

/**
 * Creates a deliverer, which sends the events of a webhook one at a time, in feed order. If more than `sendingsMax`
 * webhooks have events, they take turns, and each turn sends one event.
 */
export function createDeliverer({ leftMs, sendingsMax = 200, ...parts }: DelivererParts): Deliverer {
  const { database, observer } = parts;
  const stopping = new AbortController();
  let isEnding = false;
  const mayBegin = () => !isEnding && leftMs() >= leftMsMin;
  const attempts = createAttempts({ ...parts, mayBegin, signal: stopping.signal });
  const sendings = createSendings(sendingsMax);
  const turn = { database, observer, mayBegin, attempts, hasWaiting: sendings.hasWaiting };

  async function beginRequested(): Promise<void> {
    for (const { id } of await database.read(selectRequested, { count: BigInt(requestedRows) }))
      sendings.add(`${id} requested`, () => sendRequested(id, turn));
  }

  /** Starts the next event of each webhook, and advances the webhooks that have none. */
  async function beginEvents(due: readonly DueRow[]): Promise<void> {
    const passed: DueRow[] = [];
    for (const row of due) {
      const name = String(row.id);
      if (row.next_id !== null) sendings.add(name, () => sendEvents(row.id, turn));
      else if (!sendings.has(name)) passed.push(row);
    }
    const [first] = passed;
    if (first !== undefined) await pass(database, passed, first.newest);
  }

  return {
    async look() {
      if (mayBegin()) await beginRequested();
      const after = { afterPosition: -1n, afterId: 0n };
      while (mayBegin()) {
        const due = await database.read(selectDue, { ...after, count: BigInt(dueRows) });
        await beginEvents(due);
        const last = due.at(-1);
        if (last === undefined || due.length < dueRows) break;
        after.afterPosition = last.position;
        after.afterId = last.id;
        await nextTurn();
      }
      sendings.throwFailures();
    },

    async untilIdle() {
      await sendings.untilIdle();
      sendings.throwFailures();
    },

    async stop(graceMs) {
      isEnding = true;
      await Promise.race([sendings.untilIdle(), pause(graceMs)]);
      stopping.abort();
      await sendings.untilIdle();
    },
  };
}

interface TurnParts {
  readonly database: Database;
  readonly observer: DeliveryObserver;
  readonly mayBegin: () => boolean;
  readonly attempts: Attempts;
  readonly hasWaiting: () => boolean;
}

/** Sends the next event of a webhook, and further events while no other webhook waits. Stops after a failure. */
async function sendEvents(id: bigint, parts: TurnParts): Promise<Turn> {
  for (;;) {
    const turn = await sendNextEvent(id, parts);
    if (turn !== 'more' || parts.hasWaiting()) return turn;
  }
}

async function sendNextEvent(id: bigint, parts: TurnParts): Promise<Turn> {
  const { database, observer, mayBegin, attempts } = parts;
  const sending = mayBegin() ? await attempts.read(id) : null;
  if (sending === null || sending.row.is_due !== 1n) return 'done';
  if (sending.secrets.length === 0) return 'held';
  const { row, event } = sending;
  if (row.position < row.deleted_to) {
    const disabled = await database.run(disableLost, { id, position: row.position });
    if (disabled.length > 0)
      observer.onDisabled(row.public_id, 'the events after its position are no longer kept');
    return 'done';
  }
  // Before the attempt, the webhook moves to the position right before the event. If its types change during the
  // attempt, the new types then apply to all later events. If they have changed already, the webhook is read again.
  const to = event === null ? row.newest : event.id - 1n;
  if (to > row.position && !(await pass(database, [row], to))) return 'more';
  return event !== null && (await attempts.sendEvent(sending, event)) ? 'more' : 'done';
}

/** Sends one message that the owner of a webhook has requested. */
async function sendRequested(id: bigint, { mayBegin, attempts }: TurnParts): Promise<Turn> {
  const sending = mayBegin() ? await attempts.read(id) : null;
  if (sending === null) return 'done';
  if (sending.secrets.length === 0) return 'held';
  await attempts.sendRequested(sending);
  return 'done';
}

/** Advances webhooks past events that they do not receive. Returns true if at least one is advanced. */
async function pass(
  database: Database,
  rows: readonly Pick<WebhookRow, 'id' | 'position' | 'types'>[],
  to: bigint,
): Promise<boolean> {
  const ids = `[${rows.map(({ id }) => id).join()}]`;
  const states = JSON.stringify(rows.map(({ id, position, types }) => `${id} ${position} ${types}`));
  return (await database.run(passEvents, { ids, states, to })).length > 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
