import { findEndedKeys } from '../accounts/ended-keys.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { canSee, type EventReader } from './event-reader.ts';
import { selectPageFor } from './event-rows.ts';
import { type FeedPage, toPage } from './feed-page.ts';

/** An empty page that waits. */
export interface Waiting {
  /** Where it ends; it has seen all that was readable up to here. */
  readonly position: bigint;
  readonly limit: number;
  readonly reader: EventReader;
  readonly keyId: string;
  readonly ms: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Where empty pages wait for events. */
export interface Tail {
  /**
   * The page once it has an event, or empty once its time is over, it was ended or the tail was stopped; null if it has to be
   * read anew. Throws `unavailable` where too many wait or the store cannot be read, and the failure of a key that has
   * ended.
   */
  wait(waiting: Waiting): Promise<FeedPage | null>;
  /** How many wait. */
  count(): number;
  /** Gives all that wait their empty pages; from now on nobody waits. */
  stop(): void;
  isStopped(): boolean;
}

/** How often the store is asked for new events while somebody waits for them. */
const lookMs = 200;
/** How many events a look takes; there are more, it looks again at once. */
const lookEvents = 500;
/** How many pages may wait at one instance. */
export const waitingPagesMax = 10_000;

const everything: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };

interface Waiter extends Omit<Waiting, 'ms' | 'signal'> {
  position: bigint;
  readonly settle: (page: FeedPage) => void;
  readonly fail: (error: unknown) => void;
}

/** However many wait, one look at the store serves them all; while nobody waits, nothing is asked. */
export function createTail(database: Database, clock: Clock): Tail {
  const waiters = new Set<Waiter>();
  /** Where the last look ended: whoever waits has seen what was before. */
  let seenTo = 0n;
  let isLooking = false;
  let isStopped = false;

  async function lookOnAndOn(): Promise<void> {
    isLooking = true;
    for (let isFull = false; waiters.size > 0; ) {
      await pause(isFull ? 0 : lookMs);
      isFull = await look().catch((error) => {
        for (const waiter of waiters) waiter.fail(error);
        return false;
      });
    }
    isLooking = false;
  }

  async function look(): Promise<boolean> {
    const range = { after: seenTo, count: BigInt(lookEvents), accountId: 0n };
    const page = toPage(await database.read(selectPageFor(everything), range), lookEvents);
    seenTo = page.next;
    if (page.events.length > 0) await deliver(page, waiters, database, clock());
    return page.events.length >= lookEvents;
  }

  return {
    wait({ ms, signal, ...waiting }) {
      if (waiters.size >= waitingPagesMax) return Promise.reject(crowded());
      if (!isLooking) seenTo = waiting.position;
      if (waiting.position < seenTo) return Promise.resolve(null);
      const { promise, resolve, reject } = Promise.withResolvers<FeedPage>();
      const waiter: Waiter = { ...waiting, settle: resolve, fail: reject };
      const end = () => resolve({ events: [], next: waiter.position });
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      waiters.add(waiter);
      if (!isLooking) lookOnAndOn();
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

/** Gives those that wait what they see of a page of everything. A key may have ended while its request waited. */
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

/** What a waiter sees of a page of everything, behind its own position. */
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
