import { findEndedKeys } from '../accounts/ended-keys.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { canSee, type EventReader } from './event-reader.ts';
import { selectPageFor } from './event-rows.ts';
import { type FeedPage, toPage } from './feed-page.ts';

/** A request with an empty page that waits for events. */
export interface Waiting {
  /** The end of the empty page. The client has seen all events up to this position. */
  readonly position: bigint;
  readonly limit: number;
  readonly reader: EventReader;
  readonly keyId: string;
  readonly ms: number;
  /** Ends the wait when aborted. */
  readonly signal: AbortSignal;
}

/** The end of the feed, where requests wait for events (long polling). */
export interface Tail {
  /**
   * Resolves to a page with events, or to an empty page if the time is over, the signal aborts or the tail stops.
   * Resolves to null if the last poll has already read events after `position`. The caller must then read the page from
   * the store.
   *
   * Throws `unavailable` if too many requests wait or the store cannot be read. If the key expires or is revoked during
   * the wait, or the account is suspended, throws the same error as a request with such a key.
   */
  wait(waiting: Waiting): Promise<FeedPage | null>;
  /** Returns the number of waiting requests. */
  count(): number;
  /** Resolves all waiting requests with empty pages. Callers must not call `wait` after this. */
  stop(): void;
  isStopped(): boolean;
}

/** Milliseconds between two polls of the store while a request waits. */
const pollMs = 200;
/** Maximum number of events in one poll. If a poll returns this many, the next poll follows at once. */
const pollEvents = 500;
/** Maximum number of requests that may wait at one instance. */
export const waitingPagesMax = 10_000;

const everything: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };

interface Waiter extends Omit<Waiting, 'ms' | 'signal'> {
  position: bigint;
  readonly settle: (page: FeedPage) => void;
  readonly fail: (error: unknown) => void;
}

/** Creates a tail. One poll of the store serves all waiting requests. If no request waits, the store is not polled. */
export function createTail(database: Database, clock: Clock): Tail {
  const waiters = new Set<Waiter>();
  /** The position up to which the last poll read. All waiting clients have seen the events up to here. */
  let seenTo = 0n;
  let isPolling = false;
  let isStopped = false;

  async function pollWhileWaiting(): Promise<void> {
    isPolling = true;
    for (let isFull = false; waiters.size > 0; ) {
      await pause(isFull ? 0 : pollMs);
      isFull = await poll().catch((error) => {
        for (const waiter of waiters) waiter.fail(error);
        return false;
      });
    }
    isPolling = false;
  }

  async function poll(): Promise<boolean> {
    const range = { after: seenTo, count: BigInt(pollEvents), accountId: 0n };
    const page = toPage(await database.read(selectPageFor(everything), range), pollEvents);
    seenTo = page.next;
    if (page.events.length > 0) await deliver(page, waiters, database, clock());
    return page.events.length >= pollEvents;
  }

  return {
    wait({ ms, signal, ...waiting }) {
      if (waiters.size >= waitingPagesMax) return Promise.reject(crowded());
      if (!isPolling) seenTo = waiting.position;
      if (waiting.position < seenTo) return Promise.resolve(null);
      const { promise, resolve, reject } = Promise.withResolvers<FeedPage>();
      const waiter: Waiter = { ...waiting, settle: resolve, fail: reject };
      const end = () => resolve({ events: [], next: waiter.position });
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      waiters.add(waiter);
      if (!isPolling) pollWhileWaiting();
      return promise.finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        waiters.delete(waiter);
      });
    },
    count: () => waiters.size,
    stop() {
      isStopped = true;
      for (const { settle, position } of waiters) settle({ events: [], next: position });
    },
    isStopped: () => isStopped,
  };
}

/**
 * Resolves each waiting request that may see an event of the page. Checks the keys of these requests again, because a
 * key may have expired or been revoked during the wait.
 */
async function deliver(
  page: FeedPage,
  waiters: ReadonlySet<Waiter>,
  database: Database,
  nowMs: number,
): Promise<void> {
  const found = [...waiters].map((waiter) => ({ waiter, own: pageFor(waiter, page) }));
  const served = found.filter(({ own }) => own.events.length > 0);
  for (const { waiter, own } of found) if (own.events.length === 0) waiter.position = own.next;
  if (served.length === 0) return;
  const ended = await findEndedKeys(database, new Set(served.map(({ waiter }) => waiter.keyId)), nowMs);
  for (const { waiter, own } of served) {
    const failure = ended.get(waiter.keyId);
    if (failure === undefined) waiter.settle(own);
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function crowded(): AppError {
  return new AppError('unavailable', 'too many requests are waiting for events; try again');
}
