import { canSee, type EventReader } from '../events/event-reader.ts';
import type { EventRow } from '../events/event-rows.ts';
import type { Feed } from '../events/feed.ts';
import type { FeedPage } from '../events/feed-page.ts';
import { readTypes } from './sight.ts';
import { readerOf, type WebhookRow } from './webhook.ts';

/** A page of the feed with the events after `from` that one reader may see. */
export interface EventPage extends FeedPage {
  readonly from: bigint;
  /** True if the feed had no events after this page. */
  readonly isLast: boolean;
}

/** A cache of the newest events for all webhooks that are near the end of the feed. */
export interface EventWindow {
  /** Replaces the cache with the events since the last call. */
  refresh(): Promise<void>;
  /** Returns the page after a position. Throws `events_expired` if an event after the position is deleted. */
  read(reader: EventReader, position: bigint): Promise<EventPage>;
}

const everything: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };
const windowEvents = 500;
const pageEvents = 100;

/** Creates the cache of a feed. Pages that begin before the cached events are read from the store. */
export function createEventWindow(feed: Feed): EventWindow {
  let window: EventPage | null = null;

  return {
    async refresh() {
      const start = window?.isLast === true ? window.next : 'now';
      window = null;
      const page = await feed.read({ start, limit: windowEvents }, everything);
      const from = start === 'now' ? page.next : start;
      window = { ...page, from, isLast: page.events.length < windowEvents };
    },

    async read(reader, position) {
      const isWithin = window !== null && position >= window.from;
      if (window !== null && isWithin && (position < window.next || window.isLast)) {
        const events = window.events.filter((event) => event.id > position && canSee(reader, event));
        return { events, from: position, next: window.next, isLast: window.isLast };
      }
      const page = await feed.read({ start: position, limit: pageEvents }, reader);
      return { ...page, from: position, isLast: page.events.length < pageEvents };
    },
  };
}

/** Maximum number of pages that one call reads while it finds no event for the webhook. */
const pagesMax = 20;

/**
 * Finds the next event for a webhook and its page. If there is no event for the webhook up to the end of the page,
 * `event` is undefined. The page `known` is used again if it contains the position of the webhook.
 */
export async function findPage(
  window: EventWindow,
  row: WebhookRow,
  known: EventPage | null,
): Promise<{ readonly page: EventPage; readonly event: EventRow | undefined }> {
  const [reader, types] = [readerOf(row), readTypes(row.types)];
  const isOfTypes = ({ id, type }: EventRow) => id > row.position && types.some((one) => one === type);
  const isWithin = known !== null && row.position >= known.from && row.position < known.next;
  let page = isWithin ? known : await window.read(reader, row.position);
  for (let pages = 1; ; pages += 1) {
    const event = page.events.find(isOfTypes);
    if (event !== undefined || page.isLast || pages >= pagesMax) return { page, event };
    page = await window.read(reader, page.next);
  }
}
