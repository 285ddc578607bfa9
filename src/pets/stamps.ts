import type { Database } from '../storage/database.ts';
import { selectStamp } from './pet-rows.ts';

/** What the store holds, in two numbers. While both stay the same, so does every answer about animals. */
export interface Stamp {
  readonly newestId: bigint;
  /** How often animals were changed or deleted. */
  readonly edits: bigint;
}

/**
 * The animals that an answer is made of: those from `oldestId` (null: the first) to `newestId` (null: the last, and all
 * that are still to be added).
 */
export interface IdRange {
  readonly newestId: bigint | null;
  readonly oldestId: bigint | null;
}

/** Reads the stamp once for all requests that come in one turn of the event loop, and again after an add. */
export interface Stamps {
  /** To be called when a request comes in from its socket, before all else. */
  openTurn(): void;
  /**
   * What the store holds, with everything that was committed before the request came: the same object for as long as
   * it holds the same. Null if that cannot be told within the call (PostgreSQL): then no answer may be kept.
   */
  read(): Stamp | null;
  /** Whether an answer that was made at a stamp is still right. */
  isFresh(range: IdRange, since: Stamp, now: Stamp): boolean;
  /** To be called after the commit of an add, before its answer: the reading of this turn may be older. */
  forget(): void;
}

/** How often one reading serves: with thousands of connections a turn may be long. */
const usesMax = 256;

/**
 * A reading is kept from the arrival of a request to the end of the poll phase of the same turn, or to the commit of an
 * add within it. A request that had to wait is handled outside of the poll phase: a reading of then would be kept
 * through the next one.
 */
export function createStamps(database: Database): Stamps {
  let isOpen = false;
  let remembered: Stamp | null = null;
  let last: Stamp | null = null;
  let uses = 0;

  function close(): void {
    isOpen = false;
    remembered = null;
  }

  function readNow(): Stamp | null {
    const [row] = database.readNow?.(selectStamp, {}) ?? [];
    if (row === undefined) return null;
    const newestId = row.newest_id ?? 0n;
    if (last?.newestId !== newestId || last.edits !== row.edits) last = { newestId, edits: row.edits };
    return last;
  }

  return {
    openTurn() {
      if (isOpen) return;
      isOpen = true;
      setImmediate(close);
    },

    read() {
      uses += 1;
      if (remembered !== null && uses < usesMax) return remembered;
      const stamp = readNow();
      uses = 0;
      if (isOpen) remembered = stamp;
      return stamp;
    },

    isFresh: ({ newestId }, since, now) =>
      since.edits === now.edits &&
      // Ids grow, so an added animal belongs to no range that ends at an id which was given before. A store that was
      // put back to an earlier state may have cursors for ids that are still to come.
      (since.newestId === now.newestId || (newestId !== null && newestId <= since.newestId)),

    forget() {
      remembered = null;
    },
  };
}
