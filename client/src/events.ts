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

/** A change; its `type` tells which of these it is. */
export type StoreEvent = PetEvent | CategoryEvent | OrderEvent;

/** A part of the feed, the oldest first; an empty one is its present end. */
export interface EventPage {
  readonly items: readonly StoreEvent[];
  /** Behind what the next page begins; past events, too, that the key may not see. */
  readonly next: string;
  readonly response: ResponseInfo;
}

export interface EventsListOptions extends ListEventsQuery, CallOptions {}

export interface FollowOptions extends CallOptions {
  /** Where to begin: a position that was kept, or `now`. Without it, or with null, the oldest event that is kept. */
  readonly after?: string | null | undefined;
  /** How many events are asked for at once, 1 to 100; 100 unless it is given. */
  readonly limit?: number | undefined;
  /** Is called, and awaited, once everything before a position has been dealt with: keep it, and begin there next time. */
  readonly onPosition?: ((after: string) => unknown) | undefined;
}

/** What has changed in the store. All of it rejects with AnimalStoreError. */
export interface Events {
  /** One page; 20 events unless `limit` is given. */
  list(options?: EventsListOptions): Promise<EventPage>;
  /**
   * Every event, and then each as it comes, without end: `break` ends it, or the signal. Fails with `events_expired`
   * where something behind `after` is no longer kept.
   */
  follow(options?: FollowOptions): AsyncGenerator<StoreEvent, never, undefined>;
}

const waitSecondsMax = 20;

/** `timeoutMs` is how long one request may take. */
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

/** Of whatever type it is: later releases may know more. */
function isEvent(value: unknown): value is StoreEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, timestamp, data } = value as Record<string, unknown>;
  const areTexts = [id, type, timestamp].every((text) => typeof text === 'string');
  return areTexts && typeof data === 'object' && data !== null;
}
