import { AppError } from '../errors.ts';
import type { EventRow, FeedRow } from './event-rows.ts';

/** A page of the feed, oldest first. */
export interface FeedPage {
  readonly events: readonly EventRow[];
  /** The position behind which the next page begins. */
  readonly next: bigint;
}

/** The page in the rows of its statement, which were at most `limit`. */
export function toPage(rows: readonly FeedRow[], limit: number): FeedPage {
  const events = rows.filter((row): row is FeedRow & EventRow => row.id !== null);
  const last = events.at(-1);
  return { events, next: last !== undefined && events.length >= limit ? last.id : endsOf(rows).newest };
}

/** Throws `invalid_parameter` for a position that was never given out, and `events_expired` where an event behind it is gone. */
export function requireKept(position: bigint, rows: readonly FeedRow[]): void {
  const { newest, deleted_to } = endsOf(rows);
  if (position > newest) throw unknownEvent();
  if (position >= deleted_to) return;
  throw new AppError(
    'events_expired',
    'after: events behind this one are no longer kept; read the store anew, and go on from after=now',
  );
}

/** The failure of an `after` that was never given out. */
export function unknownEvent(): AppError {
  return new AppError('invalid_parameter', 'after must be now, or the id of an event that was given out');
}

function endsOf([row]: readonly FeedRow[]): FeedRow {
  if (row === undefined) throw new Error('the store has no horizon of its events');
  return row;
}
