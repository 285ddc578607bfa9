import { secondMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import type { EventReader } from './event-reader.ts';
import { selectPageFor } from './event-rows.ts';
import { type FeedPage, requireKept, toPage } from './feed-page.ts';
import type { Tail } from './tail.ts';

/** The longest wait for an event (contract section 13). */
export const waitSecondsMax = 20;

/** A query for a page of the feed. */
export interface FeedQuery {
  /** Where the page begins: after a position, at the oldest kept event, or at the end. */
  readonly start: bigint | 'oldest' | 'now';
  /** The most events on the page, 1 to 100. */
  readonly limit: number;
}

/** How long an empty page waits for an event, and for which client. */
export interface FeedWait {
  /** Up to `waitSecondsMax`. 0 does not wait. */
  readonly seconds: number;
  readonly keyId: string;
  /** Calls a listener when the client has disconnected. */
  readonly onGone: (listener: () => void) => void;
}

/** All changes of the store in an order that never changes (contract section 13). Fails as the database does. */
export interface Feed {
  /**
   * A page of what a reader sees. Throws `invalid_parameter` for a position that does not exist yet, and
   * `events_expired` if an event after it is deleted.
   */
  read(query: FeedQuery, reader: EventReader): Soon<FeedPage>;
  /**
   * The same, but an empty page waits. It is returned when the reader has an event to see, the time is over, the client
   * has disconnected, or the service stops. Throws `unavailable` if too many wait, and the error of a key that ended
   * during the wait.
   */
  readOrWait(query: FeedQuery, reader: EventReader, wait: FeedWait): Soon<FeedPage & { heldMs: number }>;
}

/** Creates the feed of a store. Empty pages wait at `tail`. */
export function createFeed(database: Database, tail: Tail): Feed {
  function read({ start, limit }: FeedQuery, reader: EventReader): Soon<FeedPage> {
    const position = start === 'oldest' ? 0n : start === 'now' ? int64Max : start;
    const parameters = { after: position, count: BigInt(limit), accountId: reader.accountId };
    return after(database.read(selectPageFor(reader), parameters), (rows) => {
      if (typeof start === 'bigint') requireKept(start, rows);
      return toPage(rows, limit);
    });
  }

  async function wait(empty: FeedPage, limit: number, reader: EventReader, { seconds, ...client }: FeedWait) {
    const startedAtMs = performance.now();
    const gone = new AbortController();
    client.onGone(() => gone.abort());
    const waiting = { limit, reader, keyId: client.keyId, signal: gone.signal };
    let page = empty;
    for (;;) {
      const heldMs = performance.now() - startedAtMs;
      const leftMs = seconds * secondMs - heldMs;
      if (page.events.length > 0 || leftMs <= 0 || tail.isStopped() || gone.signal.aborted)
        return { ...page, heldMs };
      const found = await tail.wait({ ...waiting, position: page.next, ms: leftMs });
      page = found ?? (await read({ start: page.next, limit }, reader));
    }
  }

  return {
    read,
    readOrWait: (query, reader, client) =>
      after(read(query, reader), (page) =>
        page.events.length > 0 || client.seconds === 0
          ? { ...page, heldMs: 0 }
          : wait(page, query.limit, reader, client),
      ),
  };
}
