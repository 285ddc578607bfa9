import { readCallOptions, writeQuery } from './call.ts';
import { argumentError, createError } from './errors.ts';
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
import { wait } from './waiting.ts';

/** A change of the store. `type` is the kind of change. */
export type StoreEvent = PetEvent | CategoryEvent | OrderEvent;

/** A page of the feed, oldest events first. An empty page means that there are no newer events yet. */
export interface EventPage {
  readonly items: readonly StoreEvent[];
  /** The value of `after` for the next page. Events that the key may not read are skipped. */
  readonly next: string;
  readonly response: ResponseInfo;
}

export interface EventsListOptions extends ListEventsQuery, CallOptions {}

export interface FollowOptions extends CallOptions {
  /** The stored position to start after, or `now` for new events only. Default: the start of the feed. */
  readonly after?: string | null | undefined;
  /** Number of events per request, 1 to 100. Default: 100. */
  readonly limit?: number | undefined;
  /**
   * Called and awaited when you have handled all events up to a position. Store the position. After a restart, pass it
   * as `after`.
   */
  readonly onPosition?: ((after: string) => unknown) | undefined;
}

/** The event feed of the store. A method that fails rejects with AnimalStoreError. */
export interface Events {
  /** Returns one page. The default `limit` is 20. */
  list(options?: EventsListOptions): Promise<EventPage>;
  /**
   * Yields all events and then waits for new ones. The generator never ends by itself: use `break` or the signal. Fails
   * with `events_expired` if an event after `after` has expired.
   */
  follow(options?: FollowOptions): AsyncGenerator<StoreEvent, never, undefined>;
}

const waitSecondsMax = 20;
/** Pause in ms after an empty page, if the timeout is too short for the service to wait for an event. */
const pauseMs = 1_000;

export function createEvents(send: Transport, timeoutMs: number): Events {
  // At most two thirds of the timeout, so that an empty page arrives before the request times out.
  const waitSeconds = Math.min(waitSecondsMax, Math.floor(timeoutMs / 1_500));

  const list: Events['list'] = async (options) => {
    const { signal, after, limit, wait: seconds } = readCallOptions(options);
    const { path } = operations.listEvents;
    const query = writeQuery({ after, limit, wait: seconds });
    const call = { operation: 'listEvents', path: path + query, isExpected: isEventList } as const;
    const { value, response } = await send(call, { signal });
    const next = findNext(response, path)?.get('after') ?? null;
    if (next === null)
      throw createError('unexpected_answer', 'the page of events has no link to the next page', response);
    return { items: value, next, response };
  };

  return {
    list,
    async *follow(options) {
      const { signal, after, limit = 100, onPosition } = readCallOptions(options);
      if (onPosition !== undefined && typeof onPosition !== 'function')
        throw argumentError('onPosition', 'must be a function');
      for (let position = after ?? undefined; ; ) {
        // A retry of a request after `now` begins at a later position. So the position is read without a wait.
        const page = { after: position, limit, wait: position === 'now' ? 0 : waitSeconds, signal };
        const { items, next } = await list(page);
        yield* items;
        if (next !== position) await onPosition?.(next);
        else if (waitSeconds === 0) await wait(pauseMs, signal);
        position = next;
      }
    },
  };
}

function isEventList(value: unknown): value is readonly StoreEvent[] {
  return Array.isArray(value) && value.every(isEvent);
}

/** Accepts unknown types, because later releases of the service may add types. */
function isEvent(value: unknown): value is StoreEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, timestamp, data } = value as Record<string, unknown>;
  const areTexts = [id, type, timestamp].every((text) => typeof text === 'string');
  return areTexts && typeof data === 'object' && data !== null;
}
