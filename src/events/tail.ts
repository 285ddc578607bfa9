import { findEndedKeys } from '../accounts/keyring.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import { canSee, type EventReader, everything } from './event-reader.ts';
import { endsOf, type FeedPage, selectPageFor, toPage } from './feed-page.ts';

/** A request with an empty page that waits for events. */
interface Waiting {
  /** The client has seen all events up to this position. */
  position: bigint;
  readonly limit: number;
  readonly reader: EventReader;
  readonly keyId: string;
  /** The end of the wait, by `performance.now()`. */
  readonly endsAtMs: number;
  /** Registers a listener for the disconnection of the client. */
  readonly onGone: (listener: () => void) => void;
}

/** Milliseconds between two polls of the store while a request waits. A wait may end this much late. */
const pollMs = 200;
/** Maximum number of events in one poll. If a poll returns this many, the next poll follows at once. */
const pollEvents = 500;
/** Maximum number of requests that may wait at one instance. */
export const waitingPagesMax = 10_000;

interface Waiter extends Waiting {
  readonly settle: (page: FeedPage) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Creates the end of the feed, where requests wait for events (long polling). One poll of the store serves all of them.
 * If no request waits, the store is not polled.
 */
export function createTail(database: Database, clock: Clock) {
  const waiters = new Set<Waiter>();
  let isPolling = false;
  let isStopped = false;

  async function pollWhileWaiting(): Promise<void> {
    isPolling = true;
    for (let isFull = false; waiters.size > 0; ) {
      await pause(isFull ? 0 : pollMs);
      isFull = await poll([...waiters], database, clock()).catch((error) => {
        for (const waiter of waiters) waiter.fail(error);
        return false;
      });
    }
    isPolling = false;
  }

  return {
    /**
     * Resolves to a page with events, or to an empty page soon after the time is over, or at once if the client
     * disconnects, the tail stops or another server takes over.
     *
     * Throws `unavailable` if too many requests wait or the store cannot be read. If the key expires or is revoked
     * during the wait, or the account is suspended, throws the same error as a request with such a key.
     */
    async wait(waiting: Waiting): Promise<FeedPage> {
      if (waiters.size >= waitingPagesMax)
        throw new AppError('unavailable', 'too many requests are waiting for events; try again');
      const { promise, resolve, reject } = Promise.withResolvers<FeedPage>();
      const waiter: Waiter = { ...waiting, settle: resolve, fail: reject };
      waiters.add(waiter);
      waiting.onGone(() => resolve(emptyPage(waiter)));
      if (isStopped) resolve(emptyPage(waiter));
      if (!isPolling) pollWhileWaiting();
      try {
        return await promise;
      } finally {
        waiters.delete(waiter);
      }
    },
    /** Returns the number of waiting requests. */
    count: () => waiters.size,
    /** Resolves all requests that wait or come later with empty pages. */
    stop(): void {
      isStopped = true;
      for (const waiter of waiters) waiter.settle(emptyPage(waiter));
    },
  };
}

/** Answers the requests that need not wait longer. Returns true if the store may have more events. */
async function poll(waiters: readonly Waiter[], database: Database, nowMs: number): Promise<boolean> {
  if (waiters.length === 0) return false;
  const after = waiters.reduce((least, { position }) => (position < least ? position : least), int64Max);
  const range = { after, count: BigInt(pollEvents), accountId: 0n };
  const rows = await database.read(selectPageFor(everything), range);
  const page = toPage(rows, pollEvents);
  const { skipped_to } = endsOf(rows);
  const ended: [Waiter, FeedPage][] = [];
  for (const waiter of waiters) {
    // Another server took over during the wait. The next request finds out whether its position is lost.
    const own = waiter.position < skipped_to ? emptyPage(waiter) : pageFor(waiter, page);
    const isOver = waiter.position < skipped_to || waiter.endsAtMs <= performance.now();
    waiter.position = own.next;
    if (own.events.length > 0 || isOver) ended.push([waiter, own]);
  }
  if (ended.length > 0) await answer(ended, database, nowMs);
  return page.events.length >= pollEvents;
}

/** Checks the keys again, because a key may have expired or been revoked during the wait. */
async function answer(
  ended: readonly (readonly [Waiter, FeedPage])[],
  database: Database,
  nowMs: number,
): Promise<void> {
  const failures = await findEndedKeys(database, new Set(ended.map(([{ keyId }]) => keyId)), nowMs);
  for (const [waiter, page] of ended) {
    const failure = failures.get(waiter.keyId);
    if (failure === undefined) waiter.settle(page);
    else waiter.fail(failure);
  }
}

/** Returns the events of a poll that a waiting request may see and has not seen yet. */
function pageFor({ position, limit, reader }: Waiter, page: FeedPage): FeedPage {
  const visible = page.events.filter((event) => event.id > position && canSee(reader, event));
  const events = visible.slice(0, limit);
  const next = visible.length > limit ? events.at(-1)?.id : undefined;
  return { events, next: next ?? (page.next > position ? page.next : position) };
}

function emptyPage({ position }: Waiter): FeedPage {
  return { events: [], next: position };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
