import type { Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import { createLogStamps } from './log-stamps.ts';
import type { PetSelection } from './pet-selection.ts';
import type { RecentEdits } from './recent-edits.ts';
import { createTurnStamps } from './turn-stamps.ts';

/** The state of the animals in two numbers. While both stay the same, all answers about animals do. */
export interface Stamp {
  /** 0 if ids may be committed out of order. Then an addition counts as an edit. */
  readonly newestId: bigint;
  /** The newest change or deletion of an animal. */
  readonly newestEdit: bigint;
  /** How often edits may have been missed. Answers from an earlier era are stale. */
  readonly era: number;
}

/** Shows whether a cached answer is still right, without making it again. */
export interface Stamps {
  /** Call it first when a request arrives. */
  openTurn(): void;
  /**
   * The current stamp, including everything committed before the call or before the open turn. Returns the same object
   * while nothing changes. Fails as the database does.
   */
  read(): Soon<Stamp>;
  /**
   * The oldest stamp that an answer made from now on can have. Cache the answer with this stamp. Null if it is not
   * known yet. Then do not cache the answer.
   */
  latest(): Stamp | null;
  /** Whether an answer made at the stamp `since` is still right. */
  isFresh(selection: PetSelection, since: Stamp, now: Stamp): boolean;
  /** Call it after the commit of a write and before its answer. The stamp of this turn may be older. */
  forget(): void;
}

/** Creates the stamps of a store. If the engine runs in this process, they are synchronous. */
export function createStamps(database: Database): Stamps {
  return database.readNow === null ? createLogStamps(database) : createTurnStamps(database.readNow);
}

/** Whether an answer made at the stamp `since` is still right, given the edits after it. */
export function isFreshSince(edits: RecentEdits, selection: PetSelection, since: Stamp, now: Stamp): boolean {
  return (
    since.era === now.era &&
    // Ids grow: a new animal is not in a selection that ends at an older one. After a restore of an older backup, a cursor
    // may name an animal that does not exist yet.
    (since.newestId === now.newestId ||
      (selection.newestId !== null && selection.newestId <= since.newestId)) &&
    (since.newestEdit === now.newestEdit || !edits.mayAffect(selection, since.newestEdit))
  );
}
