import { secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Feed } from '../events/feed.ts';
import type { Database } from '../storage/database.ts';
import { type AttemptParts, type Attempts, createAttempts, type DeliveryObserver } from './attempts.ts';
import { type DeliveryRow, disableLost, passEvents, selectDue } from './delivery-rows.ts';
import { createEventWindow, type EventPage, type EventWindow, findPage } from './event-window.ts';
import { attemptMsMax } from './rules/retry.ts';
import { createSendings } from './sendings.ts';

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
  readonly feed: Feed;
  /** Milliseconds until the lease of this instance expires. 0 without the lease. */
  readonly leftMs: () => number;
  /** Maximum number of messages that the service sends at the same time. */
  readonly sendingsMax?: number;
}

/**
 * An attempt starts only if this much time of the lease is left. The attempt then ends before the lease expires, so
 * that two instances never send to the same webhook at the same time.
 */
const leftMsMin = attemptMsMax + secondMs;

/**
 * Creates a deliverer, which sends the events of a webhook one at a time, in feed order. If more than `sendingsMax`
 * webhooks have events, they take turns, and each turn sends one event.
 */
export function createDeliverer({ feed, leftMs, sendingsMax = 200, ...parts }: DelivererParts): Deliverer {
  const { database, observer } = parts;
  const stopping = new AbortController();
  let isEnding = false;
  const mayBegin = () => !isEnding && leftMs() >= leftMsMin;
  const attempts = createAttempts({ ...parts, mayBegin, signal: stopping.signal });
  const window = createEventWindow(feed);
  const sendings = createSendings(sendingsMax);
  const turn = { database, observer, mayBegin, attempts, window, hasWaiting: sendings.hasWaiting };

  async function beginDue(): Promise<void> {
    const due = await database.read(selectDue, {});
    for (const { id, ping_id } of due)
      if (ping_id !== null) sendings.add(`${id} ping`, () => sendPing(id, turn));
    const behind = due.filter(({ id, is_due }) => is_due === 1n && !sendings.has(String(id)));
    if (behind.length === 0) return;
    await window.refresh();
    const passed: DeliveryRow[] = [];
    let to = 0n;
    for (const row of behind) {
      const page = window.peek(row, row.position);
      if (page === null || page.events.length > 0) {
        sendings.add(String(row.id), () => sendEvents(row.id, turn));
        continue;
      }
      if (page.isLast) observer.onPending(row.public_id, null);
      passed.push(row);
      to = page.next;
    }
    if (passed.length > 0) await pass(database, passed, to);
  }

  return {
    async look() {
      if (mayBegin()) await beginDue();
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
  readonly window: EventWindow;
  readonly hasWaiting: () => boolean;
}

/**
 * Sends the next event of a webhook, and further events while no other webhook waits. Stops after a failure. Returns
 * true if the webhook may have more events to send now.
 */
async function sendEvents(id: bigint, parts: TurnParts): Promise<boolean> {
  const { database, observer, mayBegin, attempts, hasWaiting } = parts;
  let known: EventPage | null = null;
  do {
    const sending = mayBegin() ? await attempts.read(id) : null;
    if (sending === null || sending.row.is_due !== 1n) return false;
    const { row } = sending;
    const found = await findKept(row, known, parts);
    if (found === null) return false;
    const { page, event } = found;
    known = page;
    // Before the attempt, the webhook moves to the position right before the event. If its types change during the
    // attempt, the new types then apply to all later events. If they have changed already, the webhook is read again.
    const to = event === undefined ? page.next : event.id - 1n;
    const isAt = to <= row.position || (await pass(database, [row], to));
    if (isAt && event === undefined && page.isLast) {
      observer.onPending(row.public_id, null);
      return false;
    }
    if (isAt && event !== undefined && !(await attempts.sendEvent(sending, event))) return false;
  } while (!hasWaiting());
  return true;
}

/** Finds the next event of a webhook. If it is no longer kept, disables the webhook and returns null. */
async function findKept(
  row: DeliveryRow,
  known: EventPage | null,
  { database, observer, window }: TurnParts,
) {
  try {
    return await findPage(window, row, known);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'events_expired') throw error;
    const disabled = await database.run(disableLost, { id: row.id, position: row.position });
    if (disabled.length > 0)
      observer.onDisabled(row.public_id, 'the events after its position are no longer kept');
    return null;
  }
}

/** Sends the ping of a webhook once. */
async function sendPing(id: bigint, { mayBegin, attempts }: TurnParts): Promise<false> {
  const sending = mayBegin() ? await attempts.read(id) : null;
  const pingId = sending?.row.ping_id ?? null;
  if (sending !== null && pingId !== null) await attempts.sendPing(sending, pingId);
  return false;
}

/** Advances webhooks past events that they do not receive. Returns true if at least one is advanced. */
async function pass(database: Database, rows: readonly DeliveryRow[], to: bigint): Promise<boolean> {
  const ids = `[${rows.map(({ id }) => id).join()}]`;
  const states = JSON.stringify(rows.map(({ id, position, types }) => `${id} ${position} ${types}`));
  return (await database.run(passEvents, { ids, states, to })).length > 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
