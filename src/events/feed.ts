import { secondMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import type { EventReader } from './event-reader.ts';
import { selectPageFor } from './event-rows.ts';
import { type FeedPage, requireKept, toPage } from './feed-page.ts';
import type { Tail } from './tail.ts';

/** Maximum number of seconds that a request waits for an event (contract section 13). */
export const waitSecondsMax = 20;

export interface FeedQuery {
  /** Starts the page after a position, at the oldest kept event, or at the end of the feed. */
  readonly start: bigint | 'oldest' | 'now';
  /** Maximum number of events on the page, 1 to 100 in a request. */
  readonly limit: number;
}

/** Options for a request that waits for an event if its page is empty (long polling). */
export interface FeedWait {
  /** 0 to `waitSecondsMax`. 0 means no wait. */
  readonly seconds: number;
  readonly keyId: string;
  /** Registers a listener for the disconnection of the client. */
  readonly onGone: (listener: () => void) => void;
}

/**
 * All changes of the store in an order that never changes (contract section 13). Methods also throw the errors of the
 * database.
 */
export interface Feed {
  /**
   * Returns a page of the events that the reader may see. Throws `invalid_parameter` if the position is after the
   * newest event. Throws `events_expired` if an event after the position is deleted.
   */
  read(query: FeedQuery, reader: EventReader): Soon<FeedPage>;
  /**
   * Like `read`, but a request with an empty page waits until
   * - there is an event that the reader may see,
   * - the time is over,
   * - the client disconnects, or
   * - the service stops.
   *
   * `heldMs` is the time that the request waited. Throws `unavailable` if too many requests wait. If the key expires or
   * is revoked during the wait, or the account is suspended, throws the same error as a request with such a key.
   */
  readOrWait(query: FeedQuery, reader: EventReader, wait: FeedWait): Soon<FeedPage & { heldMs: number }>;
}

/** Creates the feed of a store. Requests wait for events at `tail`. */
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
