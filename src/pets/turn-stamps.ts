import type { Database } from '../storage/database.ts';
import type { Edit } from './pet-selection.ts';
import { createRecentEdits } from './recent-edits.ts';
import { selectDeletedTo, selectEditsAfter, selectStamp } from './stamp-rows.ts';
import { isFreshSince, type Stamp, type Stamps } from './stamps.ts';

/**
 * Maximum number of uses of one stamp. This bounds the age of a stamp, because a turn with thousands of connections may
 * be long.
 */
const usesMax = 256;
/**
 * Maximum number of edits in memory and in one read. If a read returns this many, edits may be missing, so all cached
 * responses become stale.
 */
const editsMax = 1_000;

/**
 * Creates the stamps of a SQLite store. One read serves all requests of an event loop turn until a write is committed.
 * The stamp is kept from the arrival of the first request until the end of the poll phase.
 *
 * A request that had to wait runs outside the poll phase. Its stamp is not kept, because the stamp would still be used
 * in the next poll phase.
 */
export function createTurnStamps(readNow: NonNullable<Database['readNow']>): Stamps {
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

  function readStamp(): Stamp {
    const [row] = readNow(selectStamp, {});
    const newestId = row?.newest_id ?? 0n;
    const newestEdit = row?.newest_edit ?? 0n;
    if (last?.newestEdit !== newestEdit) noteEdits(last?.newestEdit ?? newestEdit, newestEdit);
    if (last?.newestId !== newestId || last.newestEdit !== newestEdit) last = { newestId, newestEdit, era };
    return last;
  }

  /** Records the edits since the last read. If edits may be missing, a new era starts. */
  function noteEdits(after: bigint, newestEdit: bigint): void {
    const found = readEdits(readNow, after, newestEdit);
    if (found === null) era += 1;
    else edits.add(found);
  }

  function read(): Stamp {
    uses += 1;
    if (remembered !== null && uses < usesMax) return remembered;
    const stamp = readStamp();
    uses = 0;
    if (isOpen) remembered = stamp;
    return stamp;
  }

  return {
    openTurn() {
      if (isOpen) return;
      isOpen = true;
      setImmediate(close);
    },

    read,
    latest: read,

    isFresh: (selection, since, now) => isFreshSince(edits, selection, since, now),

    forget() {
      remembered = null;
    },
  };
}

/**
 * Reads the edits after a position, oldest first. Returns null if edits may be missing. If `newestEdit` is below `after`,
 * the store was restored or has lost events. If events above `after` have expired, no read has seen them.
 */
function readEdits(
  readNow: NonNullable<Database['readNow']>,
  after: bigint,
  newestEdit: bigint,
): readonly Edit[] | null {
  const rows = readNow(selectEditsAfter, { after, count: BigInt(editsMax) });
  // Read after the edits, because events may expire between the two reads.
  const [horizon] = readNow(selectDeletedTo, {});
  const hasExpired = (horizon?.deleted_to ?? 0n) > after;
  return newestEdit < after || hasExpired || rows.length === editsMax ? null : rows.toReversed();
}
