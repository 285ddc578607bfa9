import { readCallOptions, writeQuery } from './call.ts';
import { argumentError } from './errors.ts';
import {
  type CategoryEvent,
  type ListEventsQuery,
  type OrderEvent,
  operations,
  type PetEvent,
} from './generated.ts';
import { findNext } from './page.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions, Transport } from './transport.ts';

/** A change of the store. Its `type` shows which kind it is. */
export type StoreEvent = PetEvent | CategoryEvent | OrderEvent;

/** A page of the feed, oldest first. An empty page is the current end. */
export interface EventPage {
  readonly items: readonly StoreEvent[];
  /** The position after which the next page begins. It also skips events that the key cannot see. */
  readonly next: string;
  readonly response: ResponseInfo;
}

export interface EventsListOptions extends ListEventsQuery, CallOptions {}

export interface FollowOptions extends CallOptions {
  /** Where to begin: a stored position, or `now`. Default: the oldest event that is kept. */
  readonly after?: string | null | undefined;
  /** How many events each request gets, 1 to 100. Default: 100. */
  readonly limit?: number | undefined;
  /**
   * Called and awaited when you have handled all events up to a position. Store the position and begin there next time.
   */
  readonly onPosition?: ((after: string) => unknown) | undefined;
}

/** The changes of the store. All methods reject with AnimalStoreError. */
export interface Events {
  /** One page. The default `limit` is 20. */
  list(options?: EventsListOptions): Promise<EventPage>;
  /**
   * Returns every event and then waits for new ones, without end. `break` or the signal ends it. Fails with
   * `events_expired` if an event after `after` is no longer kept.
   */
  follow(options?: FollowOptions): AsyncGenerator<StoreEvent, never, undefined>;
}

const waitSecondsMax = 20;

/** Creates the event methods. `timeoutMs` is the time limit of one request. */
export function createEvents(send: Transport, timeoutMs: number): Events {
  const wait = Math.max(1, Math.min(waitSecondsMax, Math.floor(timeoutMs / 1_500)));

  const list: Events['list'] = async (options) => {
    const { signal, after, limit, wait: seconds } = readCallOptions(options);
    const { path } = operations.listEvents;
    const query = writeQuery({ after, limit, wait: seconds });
    const call = { operation: 'listEvents', path: path + query, isExpected: isEventList } as const;
    const { value, response } = await send(call, { signal });
    const next = findNext(response, path)?.get('after') ?? null;
    return { items: value, next: next ?? after ?? 'now', response };
  };

  return {
    list,
    async *follow(options) {
      const { signal, after, limit = 100, onPosition } = readCallOptions(options);
      if (onPosition !== undefined && typeof onPosition !== 'function')
        throw argumentError('onPosition', 'must be a function');
      for (let position = after ?? undefined; ; ) {
        const { items, next } = await list({ after: position, limit, wait, signal });
        yield* items;
        if (next !== position) await onPosition?.(next);
        position = next;
      }
    },
  };
}

function isEventList(value: unknown): value is readonly StoreEvent[] {
  return Array.isArray(value) && value.every(isEvent);
}

/** Accepts events of any type, because later releases may add types. */
function isEvent(value: unknown): value is StoreEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, timestamp, data } = value as Record<string, unknown>;
  const areTexts = [id, type, timestamp].every((text) => typeof text === 'string');
  return areTexts && typeof data === 'object' && data !== null;
}
