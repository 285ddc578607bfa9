import type { Database } from '../storage/database.ts';
import { selectStamp } from './pet-rows.ts';

/**
 * While both numbers stay the same, so does every answer about animals. While `edits` does, so does each page that
 * begins at an id that is there, and each animal: ids grow, so a new animal stands before them all.
 */
export interface Stamp {
  readonly newestId: bigint;
  readonly edits: bigint;
}

/** Reads what the store holds, once for all requests that come in one turn of the event loop, and anew after an add. */
export interface Stamps {
  /** To be called as a request comes in from its socket, before all else. */
  openTurn(): void;
  /**
   * What the store holds, all that was committed before the request came that asks included: the same object for as long
   * as it holds the same. Null where that cannot be told within the call (PostgreSQL): then nothing may be kept ready.
   */
  read(): Stamp | null;
  /** To be called when an add has been committed, before it is answered: the reading of this turn may be from before. */
  forget(): void;
}

/** How often one reading serves: with thousands of connections a turn may be long. */
const usesMax = 256;

/**
 * A reading is remembered only from a request's coming to the end of the sockets' part of the same turn, or to an add's
 * commit within it. What is asked for at another time, as for a pipelined request that had to wait, would live through the
 * next such part.
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

    forget() {
      remembered = null;
    },
  };
}
