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
  /** Called with the milliseconds that the request waited, even if the wait ends with an error. */
  readonly noteHeld: (ms: number) => void;
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
   * Throws `unavailable` if too many requests wait. If the key expires or is revoked during the wait, or the account is
   * suspended, throws the same error as a request with such a key.
   */
  readOrWait(query: FeedQuery, reader: EventReader, wait: FeedWait): Soon<FeedPage>;
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

  async function wait(empty: FeedPage, limit: number, reader: EventReader, client: FeedWait) {
    const { seconds, keyId, onGone, noteHeld } = client;
    const startedAtMs = performance.now();
    const gone = new AbortController();
    onGone(() => gone.abort());
    const waiting = { limit, reader, keyId, signal: gone.signal };
    let page = empty;
    try {
      for (;;) {
        const leftMs = startedAtMs + seconds * secondMs - performance.now();
        const isOver = leftMs <= 0 || tail.isStopped() || gone.signal.aborted;
        if (page.events.length > 0 || isOver) return page;
        const found = await tail.wait({ ...waiting, position: page.next, ms: leftMs });
        page = found ?? (await read({ start: page.next, limit }, reader));
      }
    } finally {
      noteHeld(performance.now() - startedAtMs);
    }
  }

  return {
    read,
    readOrWait: (query, reader, client) =>
      after(read(query, reader), (page) =>
        page.events.length > 0 || client.seconds === 0 ? page : wait(page, query.limit, reader, client),
      ),
  };
}
