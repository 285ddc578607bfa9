import type { Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import { createLogStamps } from './log-stamps.ts';
import type { PetSelection } from './pet-selection.ts';
import type { RecentEdits } from './recent-edits.ts';
import { createTurnStamps } from './turn-stamps.ts';

/** The version of all animals. Responses about animals stay valid while no field of the stamp changes. */
export interface Stamp {
  /**
   * The highest id of an animal. On PostgreSQL, it is always 0, because ids may be committed out of order. An addition
   * counts as an edit there.
   */
  readonly newestId: bigint;
  /** The id of the newest edit. */
  readonly newestEdit: bigint;
  /** Increases each time edits may have been missed. Responses from an earlier era are stale. */
  readonly era: number;
}

/** Shows whether a cached response is still valid, without running its query again. */
export interface Stamps {
  /** Call this when a request arrives, so that all requests of one event loop turn can share a stamp. */
  openTurn(): void;
  /**
   * Returns the current stamp. The stamp covers everything committed before the call. Within an open turn, it may be
   * the stamp of an earlier call in the same turn. Returns the same object while nothing changes. Throws the errors of
   * the database.
   */
  read(): Soon<Stamp>;
  /**
   * Returns the stamp for a response that is created from now on. The response is at least as new as this stamp, so it
   * is safe to cache. If the result is null, do not cache the response.
   */
  latest(): Stamp | null;
  /** Returns true if a response created at the stamp `since` is still valid at the stamp `now`. */
  isFresh(selection: PetSelection, since: Stamp, now: Stamp): boolean;
  /** Call this after the commit of a write and before its response, because the stamp of the open turn may be older. */
  forget(): void;
}

/** Creates the stamps of a store. On SQLite, `read` is synchronous. */
export function createStamps(database: Database): Stamps {
  return database.readNow === null ? createLogStamps(database) : createTurnStamps(database.readNow);
}

/**
 * Returns true if a response created at `since` is still valid at `now`. `edits` must contain the edits up to `now`.
 */
export function isFreshSince(edits: RecentEdits, selection: PetSelection, since: Stamp, now: Stamp): boolean {
  return (
    since.era === now.era &&
    // Ids only increase, so a new animal is outside a selection that ends at an older animal. The bound must be compared:
    // a cursor from before a restore may contain an id that is not assigned yet.
    (since.newestId === now.newestId ||
      (selection.newestId !== null && selection.newestId <= since.newestId)) &&
    (since.newestEdit === now.newestEdit || !edits.mayAffect(selection, since.newestEdit))
  );
}
