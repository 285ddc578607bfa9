import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { secondMs } from '../clock.ts';
import { isUnavailable } from '../errors.ts';
import { type AttemptParts, sendNext } from './attempts.ts';
import { type DueWebhook, passEvents, selectDue, selectRequested, toIds } from './delivery-rows.ts';
import { createPlaces, placesMax } from './places.ts';
import { bodyMsMax } from './post-message.ts';
import { attemptMsMax } from './rules/retry.ts';

export interface DelivererParts extends Omit<AttemptParts, 'mayBegin' | 'signal'> {
  /** Milliseconds until the lease of this instance expires. 0 without the lease. */
  readonly leftMs: () => number;
  readonly places?: number;
  /** A monotonic clock. */
  readonly elapsedMs?: () => number;
}

/** An attempt needs this much time of the lease, so that two instances never send to a webhook at the same time. */
const leftMsMin = attemptMsMax + bodyMsMax + secondMs / 2;

/** Number of webhooks in one read. Each needs several index searches, and SQLite reads synchronously. */
const dueRows = 100;

export type Deliverer = ReturnType<typeof createDeliverer>;

/** Creates a deliverer, which sends the events of a webhook one at a time, in feed order. */
export function createDeliverer({
  leftMs,
  places: count = placesMax,
  elapsedMs = () => performance.now(),
  ...parts
}: DelivererParts) {
  const { database, observer } = parts;
  const stopping = new AbortController();
  let isEnding = false;
  const mayBegin = () => !isEnding && leftMs() >= leftMsMin;
  const sending = { ...parts, mayBegin, signal: stopping.signal };
  const places = createPlaces(count, elapsedMs);

  const toDelivery = (what: 'event' | 'requested') => (webhook: DueWebhook) => ({
    name: `${webhook.id} ${what}`,
    accountId: webhook.account_id,
    sendNext: () =>
      sendNext(sending, what, webhook.id).catch((error) => {
        observer.onFault(webhook.public_id, error);
        return isUnavailable(error) ? 'unavailable' : 'failed';
      }),
  });

  return {
    /** If this instance has the lease, starts what is due and advances idle webhooks. Throws the database's errors. */
    async look(): Promise<void> {
      if (!mayBegin()) return;
      places.add((await database.read(selectRequested, {})).map(toDelivery('requested')));
      const after = { afterPosition: -1n, afterId: 0n };
      for (; mayBegin(); await nextTurn()) {
        const due = await database.read(selectDue, { ...after, count: BigInt(dueRows) });
        const idle = due.filter(({ next_id, is_lost }) => next_id === null && is_lost === 0n);
        places.add(due.filter((webhook) => !idle.includes(webhook)).map(toDelivery('event')));
        if (idle.length > 0) await database.run(passEvents, { ids: toIds(idle) });
        const last = due.at(-1);
        if (last === undefined || due.length < dueRows) return;
        after.afterPosition = last.position;
        after.afterId = last.id;
      }
    },

    untilIdle: places.untilIdle,

    /** Starts no more deliveries, and aborts those that run after `graceMs`. An aborted one records no result. */
    async stop(graceMs: number): Promise<void> {
      isEnding = true;
      await Promise.race([places.untilIdle(), sleep(graceMs, undefined, { ref: false })]);
      stopping.abort();
      await places.untilIdle();
    },
  };
}
