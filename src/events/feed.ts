import { type Clock, secondMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import type { EventReader } from './event-reader.ts';
import {
  endsOf,
  expiredEvents,
  type FeedPage,
  judgePosition,
  selectPageFor,
  toPage,
  unknownEvent,
} from './feed-page.ts';
import { createTail } from './tail.ts';

/** Maximum number of seconds that a request waits for an event. */
export const waitSecondsMax = 20;

export interface FeedQuery {
  /** Starts the page after a position, at the oldest kept event, or at the end of the feed. */
  readonly start: bigint | 'oldest' | 'now';
  /** Maximum number of events on the page, 1 to 100 in a request. */
  readonly limit: number;
}

/** How a request waits for an event if its page is empty (long polling). */
export interface FeedWait {
  /** 0 to `waitSecondsMax`. 0 means no wait. */
  readonly seconds: number;
  readonly keyId: string;
  /** Registers a listener for the disconnection of the client. */
  readonly onGone: (listener: () => void) => void;
  /** Called with the milliseconds that the request waited, even if the wait ends with an error. */
  readonly noteHeld: (ms: number) => void;
}

export type Feed = ReturnType<typeof createFeed>;

/** All changes of the store in an order that never changes. Methods also throw the errors of the database. */
export function createFeed(database: Database, clock: Clock) {
  const tail = createTail(database, clock);

  /**
   * Returns a page of the events that the reader may see. Throws `events_expired` if an event after the position is
   * deleted, or if only a server that this one took over from may have given the position. Throws `invalid_parameter` if
   * nobody has given it.
   */
  async function read({ start, limit }: FeedQuery, reader: EventReader): Promise<FeedPage> {
    const position = start === 'oldest' ? 0n : start === 'now' ? int64Max : start;
    const parameters = { after: position, count: BigInt(limit), accountId: reader.accountId };
    const rows = await database.read(selectPageFor(reader), parameters);
    const judgement = typeof start === 'bigint' ? judgePosition(start, endsOf(rows)) : 'kept';
    if (judgement === 'kept') return toPage(rows, limit);
    throw judgement === 'lost' ? expiredEvents() : unknownEvent();
  }

  return {
    read,

    /** Like `read`, but a request with an empty page waits at the tail, and also throws the errors of `tail.wait`. */
    async readOrWait(query: FeedQuery, reader: EventReader, wait: FeedWait): Promise<FeedPage> {
      const { seconds, keyId, onGone, noteHeld } = wait;
      const page = await read(query, reader);
      if (page.events.length > 0 || seconds === 0) return page;
      const startedAtMs = performance.now();
      const waiting = { position: page.next, limit: query.limit, reader, keyId, onGone };
      try {
        return await tail.wait({ ...waiting, endsAtMs: startedAtMs + seconds * secondMs });
      } finally {
        noteHeld(performance.now() - startedAtMs);
      }
    },

    countWaiting: tail.count,
    /** Answers all requests that wait or come later with empty pages. */
    stopWaiting: tail.stop,
  };
}
