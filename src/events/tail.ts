import { findEndedKeys } from '../accounts/ended-keys.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { canSee, type EventReader } from './event-reader.ts';
import { selectPageFor } from './event-rows.ts';
import { type FeedPage, toPage } from './feed-page.ts';

/** An empty page that waits for events. */
export interface Waiting {
  /** The end of the page. The page includes everything that was readable up to here. */
  readonly position: bigint;
  readonly limit: number;
  readonly reader: EventReader;
  readonly keyId: string;
  readonly ms: number;
  /** Ends the wait when it aborts. */
  readonly signal: AbortSignal;
}

/** The end of the feed, where empty pages wait for events. */
export interface Tail {
  /**
   * Returns the page once it has an event, or empty if its time is over, its signal aborts or the tail stops. Null
   * means that the caller must read the page again. Throws `unavailable` if too many wait or the store cannot be read,
   * and the error of a key that has ended.
   */
  wait(waiting: Waiting): Promise<FeedPage | null>;
  /** The number of waiting pages. */
  count(): number;
  /** Returns all waiting pages as they are. From now on no page waits. */
  stop(): void;
  isStopped(): boolean;
}

/** How often the store is polled while a page waits. */
const pollMs = 200;
/** The most events that one poll reads. If there are more, it polls again at once. */
const pollEvents = 500;
/** The most pages that may wait at one instance. */
export const waitingPagesMax = 10_000;

const everything: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };

interface Waiter extends Omit<Waiting, 'ms' | 'signal'> {
  position: bigint;
  readonly settle: (page: FeedPage) => void;
  readonly fail: (error: unknown) => void;
}

/** Creates a tail. One poll of the store serves all waiting pages. Without waiting pages, it does not poll. */
export function createTail(database: Database, clock: Clock): Tail {
  const waiters = new Set<Waiter>();
  /** The end of the last poll. All waiting pages have seen the events before it. */
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

/** Gives each waiting page the events that it may see. A key may have ended while its request waited. */
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

/** Those events of a poll that a waiting page may see and that come after its position. */
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
  return new AppError('unavailable', 'too many requests wait for events; try again');
}
