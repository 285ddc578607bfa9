import { AppError } from '../errors.ts';
import type { EventRow, FeedRow } from './event-rows.ts';

/** A page of the feed, oldest first. */
export interface FeedPage {
  readonly events: readonly EventRow[];
  /** The next page begins after this position. */
  readonly next: bigint;
}

/**
 * Builds a page from the rows of `selectPageFor`. `limit` is the `count` of that statement: a page with fewer events
 * reaches the end of the feed.
 */
export function toPage(rows: readonly FeedRow[], limit: number): FeedPage {
  const events = rows.filter((row): row is FeedRow & EventRow => row.id !== null);
  const last = events.at(-1);
  return { events, next: last !== undefined && events.length >= limit ? last.id : endsOf(rows).newest };
}

/**
 * Throws `invalid_parameter` if the position is after the newest event. Throws `events_expired` if an event after the
 * position is deleted.
 */
export function requireKept(position: bigint, rows: readonly FeedRow[]): void {
  const { newest, deleted_to } = endsOf(rows);
  if (position > newest) throw unknownEvent();
  if (position >= deleted_to) return;
  throw new AppError(
    'events_expired',
    'after: the events after this one are no longer kept; read the store again and continue from after=now',
  );
}

/** Returns the error for an `after` that this service never returned. */
export function unknownEvent(): AppError {
  return new AppError(
    'invalid_parameter',
    'after must be "now" or the id of an event that this service returned',
  );
}

function endsOf([row]: readonly FeedRow[]): FeedRow {
  if (row === undefined) throw new Error('the table event_horizon has no row');
  return row;
}
