import type { Database } from '../storage/database.ts';
import { createRecentEdits } from './recent-edits.ts';
import { selectEditsAfter, selectStamp } from './stamp-rows.ts';
import { isFreshSince, type Stamp, type Stamps } from './stamps.ts';

/** The most uses of one stamp. With thousands of connections a turn may be long. */
const usesMax = 256;
/** The most edits that are kept. If one read returns so many, all cached answers become stale. */
const editsMax = 1_000;

/**
 * Creates the stamps of a store in this process. One read serves all requests of a turn of the event loop, until a
 * write is committed. A stamp is kept from the arrival of a request to the end of the poll phase of that turn.
 *
 * A request that waited is handled outside the poll phase. Its stamp is not kept, because it would last through the
 * next poll phase.
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

  /**
   * Records the edits since the last read. A lower number means that the store was restored or has lost events, so
   * edits may be missing and a new era begins.
   */
  function noteEdits(after: bigint, newestEdit: bigint): void {
    const rows = readNow(selectEditsAfter, { after, count: BigInt(editsMax) });
    if (newestEdit < after || rows.length === editsMax) era += 1;
    else edits.add(rows.toReversed());
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
