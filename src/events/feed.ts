import { setTimeout as sleep } from 'node:timers/promises';
import { findEndedKeys } from '../accounts/keyring.ts';
import { type Clock, secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import type { EventType } from './event.ts';
import { canSee, type EventReader, everything } from './event-reader.ts';
import {
  type EventRow,
  endsOf,
  expiredEvent,
  expiredEvents,
  type FeedPage,
  judgePosition,
  selectEnds,
  selectEvent,
  selectPageFor,
  selectTypedPageFor,
  toFeedPage,
  unknownEvent,
} from './feed-page.ts';

/** Maximum number of seconds that a request waits for an event. */
export const waitSecondsMax = 20;
/** Milliseconds between two polls of the store while a request waits. A wait may end this much late. */
const pollMs = 200;
/** Maximum number of events in one poll. If a poll returns this many, the next poll follows at once. */
const pollEvents = 500;
/** Maximum number of requests that may wait at one instance. */
export const waitingPagesMax = 10_000;

export interface FeedQuery {
  /** Starts the page after a position, at the oldest kept event, or at the end of the feed. */
  readonly start: bigint | 'oldest' | 'now';
  readonly limit: number;
  /** The types of the events on the page, all of which the reader may read. Absent or null: all that it may read. */
  readonly types?: readonly EventType[] | null;
}

export interface FeedWait {
  /** 0 to `waitSecondsMax`. 0 means no wait. */
  readonly seconds: number;
  readonly keyId: string;
  /** Registers a listener for the disconnection of the client. */
  readonly onGone: (listener: () => void) => void;
  /** Gets the time that the request has waited, also if the wait ends with an error. */
  readonly noteHeld: (ms: number) => void;
}

interface Waiter extends PromiseWithResolvers<FeedPage> {
  /** The client has seen all events up to this position. */
  position: bigint;
  readonly limit: number;
  readonly types: readonly EventType[] | null;
  readonly reader: EventReader;
  readonly keyId: string;
  /** The end of the wait, by `performance.now()`. */
  readonly endsAtMs: number;
}

export type Feed = ReturnType<typeof createFeed>;

/**
 * All changes of the store in an order that never changes. One poll of the store serves all requests that wait at its
 * end. While none waits, the store is not polled. Methods also throw the errors of the database.
 */
export function createFeed(database: Database, clock: Clock, waitersMax = waitingPagesMax) {
  const waiters = new Set<Waiter>();
  let isPolling = false;
  let isStopped = false;

  async function pollWhileWaiting(): Promise<void> {
    isPolling = true;
    for (let isFull = false; waiters.size > 0; ) {
      await sleep(isFull ? 0 : pollMs, undefined, { ref: false });
      isFull = await poll([...waiters], database, clock()).catch((error) => {
        for (const waiter of waiters) waiter.reject(error);
        return false;
      });
    }
    isPolling = false;
  }

  return {
    /**
     * Like `readFeed`, but waits while the page is empty. It stays empty if the time is over, the client disconnects, the
     * feed stops or another server takes over. Also throws `unavailable` if too many requests wait, and the error of a
     * key that expires or is revoked during the wait, or whose account is suspended.
     */
    async readOrWait(query: FeedQuery, reader: EventReader, options: FeedWait): Promise<FeedPage> {
      const { seconds, keyId, onGone, noteHeld } = options;
      const { limit, types = null } = query;
      const page = await readFeed(database, query, reader);
      if (page.events.length > 0 || seconds === 0) return page;
      if (waiters.size >= waitersMax)
        throw new AppError('unavailable', 'too many requests are waiting for events; try again');
      const startedAtMs = performance.now();
      const endsAtMs = startedAtMs + seconds * secondMs;
      const wait = { position: page.next, limit, types, reader, keyId, endsAtMs };
      const waiter: Waiter = { ...wait, ...Promise.withResolvers<FeedPage>() };
      waiters.add(waiter);
      onGone(() => waiter.resolve(emptyPage(waiter)));
      if (isStopped) waiter.resolve(emptyPage(waiter));
      if (!isPolling) pollWhileWaiting();
      try {
        return await waiter.promise;
      } finally {
        waiters.delete(waiter);
        noteHeld(performance.now() - startedAtMs);
      }
    },

    getEvent: (position: bigint, reader: EventReader) => readEvent(database, position, reader),

    countWaiting: () => waiters.size,

    /** Answers all requests that wait or come later with empty pages. */
    stopWaiting(): void {
      isStopped = true;
      for (const waiter of waiters) waiter.resolve(emptyPage(waiter));
    },
  };
}

/**
 * Returns a page of the events that the reader may see. Throws `events_expired` if an event after the position is
 * deleted, or if only a former server may have given the position. Throws `invalid_parameter` if nobody has given it.
 */
export async function readFeed(
  database: Database,
  { start, limit, types = null }: FeedQuery,
  reader: EventReader,
): Promise<FeedPage> {
  const position = start === 'oldest' ? 0n : start === 'now' ? int64Max : start;
  const parameters = { after: position, count: BigInt(limit), accountId: reader.accountId };
  const rows =
    types === null
      ? await database.read(selectPageFor(reader), parameters)
      : await database.read(selectTypedPageFor(reader), { ...parameters, types: types.join(' ') });
  const judgement = typeof start === 'bigint' ? judgePosition(start, endsOf(rows)) : 'kept';
  if (judgement === 'kept') return toFeedPage(rows, limit);
  throw judgement === 'lost' ? expiredEvents() : unknownEvent();
}

/**
 * Returns the event at a position. Null if there was never one, or if the reader may not see it. Throws `events_expired`
 * if it is deleted, or if only a former server may have given the position.
 */
export async function readEvent(
  database: Database,
  position: bigint,
  reader: EventReader,
): Promise<EventRow | null> {
  const [event] = await database.read(selectEvent, { position });
  if (event !== undefined) return canSee(reader, event) ? event : null;
  const { deleted_to, is_lost } = endsOf(await database.read(selectEnds, { position }));
  if (position > 0n && (position <= deleted_to || is_lost === 1n)) throw expiredEvent();
  return null;
}

/** Answers the requests that need not wait longer. Returns true if the store may have more events. */
async function poll(waiters: readonly Waiter[], database: Database, nowMs: number): Promise<boolean> {
  if (waiters.length === 0) return false;
  const after = waiters.reduce((least, { position }) => (position < least ? position : least), int64Max);
  const range = { after, count: BigInt(pollEvents), accountId: 0n };
  const rows = await database.read(selectPageFor(everything), range);
  const page = toFeedPage(rows, pollEvents);
  const { skipped_to } = endsOf(rows);
  const ended: [Waiter, FeedPage][] = [];
  for (const waiter of waiters) {
    // Another server took over during the wait. The next request finds out whether its position is lost.
    const isLeft = waiter.position < skipped_to;
    const own = isLeft ? emptyPage(waiter) : pageFor(waiter, page);
    if (own.events.length > 0 || isLeft || waiter.endsAtMs <= performance.now()) ended.push([waiter, own]);
    // Only a waiter that goes on waiting moves. One that ends may still be answered with an empty page before its own is.
    else waiter.position = own.next;
  }
  const isFull = page.events.length >= pollEvents;
  if (ended.length === 0) return isFull;
  // A key may have expired or been revoked during the wait.
  const failures = await findEndedKeys(database, new Set(ended.map(([{ keyId }]) => keyId)), nowMs);
  for (const [waiter, own] of ended) {
    const failure = failures.get(waiter.keyId);
    if (failure === undefined) waiter.resolve(own);
    else waiter.reject(failure);
  }
  return isFull;
}

/** Returns the events of a poll that a waiting request may see and has not seen yet. */
function pageFor({ position, limit, types, reader }: Waiter, page: FeedPage): FeedPage {
  const visible = page.events.filter(
    (event) => event.id > position && canSee(reader, event) && isAmong(types, event),
  );
  const events = visible.slice(0, limit);
  const next = visible.length > limit ? events.at(-1)?.id : undefined;
  return { events, next: next ?? (page.next > position ? page.next : position) };
}

function isAmong(types: Waiter['types'], { type }: EventRow): boolean {
  return types === null || (types as readonly string[]).includes(type);
}

function emptyPage({ position }: Waiter): FeedPage {
  return { events: [], next: position };
}
