import { secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Feed } from '../events/feed.ts';
import type { Database } from '../storage/database.ts';
import { type AttemptParts, type Attempts, createAttempts } from './attempts.ts';
import { type DeliveryRow, disableLost, passEvents, selectDue } from './delivery-rows.ts';
import { createEventWindow, type EventPage, type EventWindow, findPage } from './event-window.ts';
import { attemptMsMax } from './rules/retry.ts';
import { createSendings } from './sendings.ts';

/** Maximum number of webhooks that the service sends to at the same time. */
const sendingsMax = 200;

/** Sends events to webhooks. */
export interface Deliverer {
  /**
   * Starts the deliveries that are due. Every instance calls this regularly, but only the instance with the lease
   * sends. Throws the errors of the database, and the error of a delivery that has failed unexpectedly since the last
   * call.
   */
  look(): Promise<void>;
  /**
   * Resolves when no delivery is running. Throws the error of a delivery that has failed unexpectedly since the last
   * call.
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
}

/**
 * An attempt starts only if this much time of the lease is left. The attempt then ends before the lease expires, so
 * that two instances never send to the same webhook at the same time.
 */
const leftMsMin = attemptMsMax + secondMs;

/**
 * Creates a deliverer, which sends the events of a webhook one at a time, in feed order. Webhooks do not wait for each
 * other.
 */
export function createDeliverer({ feed, leftMs, ...parts }: DelivererParts): Deliverer {
  const { database, observer } = parts;
  const stopping = new AbortController();
  let isEnding = false;
  const mayBegin = () => !isEnding && leftMs() >= leftMsMin;
  const attempts = createAttempts({ ...parts, mayBegin, signal: stopping.signal });
  const window = createEventWindow(feed);
  const sendings = createSendings();

  /** Starts the next delivery. If the webhook has no event, returns the position up to which there is none. */
  async function examine(row: DeliveryRow): Promise<Passed | null> {
    try {
      const { page, event } = await findPage(window, row, null);
      if (event !== undefined) {
        sendings.begin(String(row.id), () => sendOn(row.id, page, { attempts, window, mayBegin }));
        return null;
      }
      if (page.isLast) observer.onPending(row.public_id, null);
      return { row, to: page.next };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'events_expired') throw error;
      await database.run(disableLost, { id: row.id, position: row.position });
      observer.onDisabled(row.public_id, 'the events after its position are no longer kept');
      return null;
    }
  }

  return {
    async look() {
      sendings.throwFailure();
      if (!mayBegin()) return;
      const due = await database.read(selectDue, {});
      for (const { id, ping_id } of due)
        if (ping_id !== null) sendings.begin(`${id} ping`, () => sendPing(id, attempts));
      const behind = due.filter(({ id, is_due }) => is_due === 1n && !sendings.has(String(id)));
      if (behind.length === 0) return;
      await window.refresh();
      const room = behind.slice(0, Math.max(0, sendingsMax - sendings.count()));
      const examined = await Promise.all(room.map(examine));
      await pass(
        database,
        examined.filter((one) => one !== null),
      );
    },

    async untilIdle() {
      await sendings.untilIdle();
      sendings.throwFailure();
    },

    async stop(graceMs) {
      isEnding = true;
      await Promise.race([sendings.untilIdle(), pause(graceMs)]);
      stopping.abort();
      await sendings.untilIdle();
    },
  };
}

interface SendOptions {
  readonly attempts: Attempts;
  readonly window: EventWindow;
  readonly mayBegin: () => boolean;
}

/**
 * Sends the events of a webhook, starting with the page `first`, until there are no more events or a delivery fails.
 */
async function sendOn(
  id: bigint,
  first: EventPage,
  { attempts, window, mayBegin }: SendOptions,
): Promise<void> {
  for (let known = first; mayBegin(); ) {
    const sending = await attempts.read(id);
    if (sending === null || sending.row.is_due !== 1n) return;
    const { page, event } = await findPage(window, sending.row, known);
    if (event === undefined || !(await attempts.sendEvent(sending, event))) return;
    known = page;
  }
}

async function sendPing(id: bigint, attempts: Attempts): Promise<void> {
  const sending = await attempts.read(id);
  const pingId = sending?.row.ping_id ?? null;
  if (sending !== null && pingId !== null) await attempts.sendPing(sending, pingId);
}

/** A webhook that has no events to receive up to the position `to`. */
interface Passed {
  readonly row: DeliveryRow;
  readonly to: bigint;
}

/** Advances the positions of webhooks with one statement for each target position. */
async function pass(database: Database, passed: readonly Passed[]): Promise<void> {
  for (const [to, group] of Map.groupBy(passed, (one) => one.to)) {
    const names = group.map(({ row }) => `${row.id} ${row.position}`);
    await database.run(passEvents, { webhooks: JSON.stringify(names), to });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
