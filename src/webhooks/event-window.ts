import { canSee, type EventReader } from '../events/event-reader.ts';
import type { EventRow } from '../events/event-rows.ts';
import type { Feed } from '../events/feed.ts';
import type { FeedPage } from '../events/feed-page.ts';
import { readTypes } from './sight.ts';
import { readerOf, type WebhookRow } from './webhook.ts';

/** A page of the feed after `from`, with the events that a webhook receives. */
export interface EventPage extends FeedPage {
  readonly from: bigint;
  /** The types of the webhook when the page was read. */
  readonly types: string;
  /** True if the feed had no events after this page. */
  readonly isLast: boolean;
}

/** A cache of the newest events for all webhooks that are near the end of the feed. */
export interface EventWindow {
  /** Replaces the cache with the events since the last call. */
  refresh(): Promise<void>;
  /** Returns the cached page for a webhook after a position. Returns null if the cache does not begin before it. */
  peek(row: WebhookRow, position: bigint): EventPage | null;
  /** Returns a page for a webhook after a position. Throws `events_expired` if an event after it is deleted. */
  read(row: WebhookRow, position: bigint): Promise<EventPage>;
}

const everything: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };
const windowEvents = 500;
const pageEvents = 100;

/** Creates the cache of a feed. Pages that begin before the cached events are read from the store. */
export function createEventWindow(feed: Feed): EventWindow {
  let window: Omit<EventPage, 'types'> | null = null;

  function peek(row: WebhookRow, position: bigint): EventPage | null {
    if (window === null || position < window.from) return null;
    if (position >= window.next && !window.isLast) return null;
    const reader = readerOf(row);
    const isOfTypes = typesFilter(row);
    const events = window.events.filter(
      (event) => event.id > position && isOfTypes(event) && canSee(reader, event),
    );
    return { ...window, events, from: position, types: row.types };
  }

  return {
    async refresh() {
      const start = window?.isLast === true ? window.next : 'now';
      window = null;
      const page = await feed.read({ start, limit: windowEvents }, everything);
      const from = start === 'now' ? page.next : start;
      window = { ...page, from, isLast: page.events.length < windowEvents };
    },

    peek,

    async read(row, position) {
      const cached = peek(row, position);
      if (cached !== null) return cached;
      const { events, next } = await feed.read({ start: position, limit: pageEvents }, readerOf(row));
      const isLast = events.length < pageEvents;
      return { events: events.filter(typesFilter(row)), next, from: position, types: row.types, isLast };
    },
  };
}

function typesFilter(row: WebhookRow): (event: EventRow) => boolean {
  const types = readTypes(row.types);
  return ({ type }) => types.some((one) => one === type);
}

/** Maximum number of pages that one call reads while it finds no event for the webhook. */
const pagesMax = 20;

/**
 * Finds the next event for a webhook and its page. If there is no event for the webhook up to the end of the page,
 * `event` is undefined. The page `known` is used again if it contains the position and has the types of the webhook.
 */
export async function findPage(
  window: EventWindow,
  row: WebhookRow,
  known: EventPage | null,
): Promise<{ readonly page: EventPage; readonly event: EventRow | undefined }> {
  const { position, types } = row;
  const isUsable = known !== null && known.types === types && position >= known.from && position < known.next;
  let page = isUsable ? known : await window.read(row, position);
  for (let pages = 1; ; pages += 1) {
    const event = page.events.find(({ id }) => id > position);
    if (event !== undefined || page.isLast || pages >= pagesMax) return { page, event };
    page = await window.read(row, page.next);
  }
}
