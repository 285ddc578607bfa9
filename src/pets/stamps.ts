import type { Database } from '../storage/database.ts';
import { selectEditsAfter, selectStamp } from './pet-rows.ts';
import type { PetSelection } from './pet-selection.ts';
import { createRecentEdits } from './recent-edits.ts';

/** What the store holds, in two numbers. While both stay the same, so does every answer about animals. */
export interface Stamp {
  readonly newestId: bigint;
  /** The newest event of an animal's change or deletion. */
  readonly newestEdit: bigint;
  /** How often the edits were lost track of; everything that was kept before is stale. */
  readonly era: number;
}

/** Reads the stamp once for all requests that come in one turn of the event loop, and again after a write. */
export interface Stamps {
  /** To be called when a request comes in from its socket, before all else. */
  openTurn(): void;
  /**
   * What the store holds, with everything that was committed before the request came: the same object for as long as
   * it holds the same. Null if that cannot be told within the call (PostgreSQL): then no answer may be kept.
   */
  read(): Stamp | null;
  /** Whether an answer that was made at a stamp is still right. */
  isFresh(selection: PetSelection, since: Stamp, now: Stamp): boolean;
  /** To be called after the commit of a write, before its answer: the reading of this turn may be older. */
  forget(): void;
}

/** How often one reading serves: with thousands of connections a turn may be long. */
const usesMax = 256;
/** How many edits are looked through to find what one touches; beyond it every kept answer is made anew. */
const editsMax = 1_000;

/**
 * A reading is kept from the arrival of a request to the end of the poll phase of the same turn, or to the commit of a
 * write within it. A request that had to wait is handled outside of the poll phase: a reading of then would be kept
 * through the next one.
 */
export function createStamps(database: Database): Stamps {
  const edits = createRecentEdits(editsMax);
  let isOpen = false;
  let remembered: Stamp | null = null;
  let last: Stamp | null = null;
  let uses = 0;
  let era = 0;

  function close(): void {
    isOpen = false;
    remembered = null;
  }

  function readNow(): Stamp | null {
    const [row] = database.readNow?.(selectStamp, {}) ?? [];
    if (row === undefined) return null;
    const newestId = row.newest_id ?? 0n;
    const newestEdit = row.newest_edit ?? 0n;
    if (last?.newestEdit !== newestEdit) noteEdits(last?.newestEdit ?? newestEdit, newestEdit);
    if (last?.newestId !== newestId || last.newestEdit !== newestEdit) last = { newestId, newestEdit, era };
    return last;
  }

  /** Fewer than before means that the store was put back, or forgot its events: nothing is known of what came between. */
  function noteEdits(after: bigint, newestEdit: bigint): void {
    const rows = database.readNow?.(selectEditsAfter, { after, count: BigInt(editsMax) }) ?? [];
    if (newestEdit < after || rows.length === editsMax) era += 1;
    else edits.add(rows.toReversed());
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

    isFresh: (selection, since, now) =>
      since.era === now.era &&
      // Ids grow, so an added animal belongs to no selection that ends at an id which was given before. A store that was
      // put back to an earlier state may have cursors for ids that are still to come.
      (since.newestId === now.newestId ||
        (selection.newestId !== null && selection.newestId <= since.newestId)) &&
      (since.newestEdit === now.newestEdit || !edits.touch(selection, since.newestEdit)),

    forget() {
      remembered = null;
    },
  };
}
