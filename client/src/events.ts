import { readCallOptions, readObject, writeQuery } from './arguments.ts';
import { argumentError, createError } from './errors.ts';
import { type EventType, type ListEventsQuery, operations, type StoreEvent } from './generated.ts';
import { type CallOperation, createReader, type WithResponse } from './operation-call.ts';
import { findNext } from './page.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions, Transport } from './transport.ts';
import { wait } from './waiting.ts';

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
  /** Yields only events of these types. Default: all that the key may read. */
  readonly type?: readonly EventType[] | undefined;
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
  /** Returns one event. Fails with `events_expired` once it is no longer kept. */
  get(eventId: string, options?: CallOptions): Promise<WithResponse<StoreEvent>>;
  /**
   * Yields all events and then waits for new ones. The generator never ends by itself: use `break` or the signal. Fails
   * with `events_expired` if an event after `after` has expired.
   */
  follow(options?: FollowOptions): AsyncGenerator<StoreEvent, never, undefined>;
}

const waitSecondsMax = 20;
/** Pause in ms after an empty page, if the timeout is too short for the service to wait for an event. */
const pauseMs = 1_000;

export function createEvents(call: CallOperation, send: Transport, usualTimeoutMs: number): Events {
  const { path } = operations.listEvents;
  const read = createReader<readonly StoreEvent[]>('listEvents');

  const list: Events['list'] = async (options) => {
    const given = readObject(options);
    const request = { operation: 'listEvents', path: path + writeQuery('listEvents', given), read } as const;
    const { value, response } = await send(request, readCallOptions(given));
    const next = findNext(response, path)?.get('after') ?? null;
    if (next === null)
      throw createError('unexpected_answer', 'the page of events has no link to the next page', response);
    return { items: value, next, response };
  };

  return {
    list,
    get: (eventId, options) => call('getEvent', { id: eventId }, options),
    async *follow(options) {
      const { after, type, limit = 100, onPosition } = (options ?? {}) as FollowOptions;
      const own = readCallOptions(options);
      if (onPosition !== undefined && typeof onPosition !== 'function')
        throw argumentError('onPosition', 'must be a function');
      // At most two thirds of the timeout, so that an empty page arrives before the request times out.
      const waitSeconds = Math.min(waitSecondsMax, Math.floor((own.timeoutMs ?? usualTimeoutMs) / 1_500));
      for (let position = after ?? undefined; ; ) {
        // A retry of a request after `now` begins at a later position. So the position is read without a wait.
        const seconds = position === 'now' ? 0 : waitSeconds;
        const { items, next } = await list({ ...own, after: position, type, limit, wait: seconds });
        yield* items;
        if (next !== position) await onPosition?.(next);
        else if (waitSeconds === 0) await wait(pauseMs, own.signal);
        position = next;
      }
    },
  };
}
