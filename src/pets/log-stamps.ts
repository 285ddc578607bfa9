import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import type { Edit, PetSelection } from './pet-selection.ts';
import { createRecentEdits } from './recent-edits.ts';
import { type LogRow, selectLogSince } from './stamp-rows.ts';
import { isFreshSince, type Stamp, type Stamps } from './stamps.ts';

/**
 * Maximum number of edits in one read. If a read returns this many, edits may be missing, so all cached responses
 * become stale.
 */
const readEditsMax = 1_000;
/** Maximum number of edits in memory. A cached response that is older than all of them counts as stale. */
const editsMax = 10_000;

/** The point in the log up to which a read has seen all events. The next read continues from here. */
interface Reading {
  readonly snapshot: string;
  readonly after: bigint;
  readonly startedAt: string;
}

/** The point before the first read. `isContinued` is false for it, so the first read starts a new era. */
const nothing: Reading = { snapshot: '1:1:', after: int64Max, startedAt: '' };

interface Turn {
  readonly promise: Promise<Stamp>;
  readonly resolve: (stamp: Stamp) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates the stamps of a PostgreSQL store. A read returns all edits committed since the last read, even if their
 * events have no position in the feed yet. One read serves all requests that arrive before the read is sent.
 *
 * A request that arrives during a read waits for the next read, which starts when the current read ends. If no read is
 * running, a read starts at the end of the event loop turn.
 */
export function createLogStamps(database: Database): Stamps {
  const log = createLog();
  let isReading = false;
  let next: Turn | null = null;

  async function readLog({ resolve, reject }: Turn): Promise<void> {
    try {
      resolve(log.note(await database.read(selectLogSince, log.range())));
    } catch (error) {
      reject(error);
    }
  }

  async function readUntilIdle(): Promise<void> {
    for (let turn = next; turn !== null; turn = next) {
      next = null;
      await readLog(turn);
    }
    isReading = false;
  }

  function read(): Promise<Stamp> {
    if (next !== null) return next.promise;
    next = Promise.withResolvers<Stamp>();
    const { promise } = next;
    if (!isReading) {
      isReading = true;
      setImmediate(readUntilIdle);
    }
    return promise;
  }

  return {
    openTurn: () => {},
    read,
    latest() {
      const stamp = log.latest();
      if (stamp === null && !isReading) read().catch(() => undefined);
      return stamp;
    },
    isFresh: log.isFresh,
    forget: () => {},
  };
}

/**
 * Keeps the edits read from the log. This instance numbers them in read order, because an edit may have no position
 * yet.
 */
function createLog() {
  const edits = createRecentEdits(editsMax);
  let last = nothing;
  let stamp: Stamp | null = null;

  /** Returns true if no edit since the last read can be missing. Otherwise a new era starts. */
  function isContinued({ started_at, last_event, deleted_to }: LogRow, count: number): boolean {
    return (
      started_at === last.startedAt &&
      last_event >= last.after &&
      deleted_to <= last.after &&
      count < readEditsMax
    );
  }

  return {
    range: () => ({ snapshot: last.snapshot, after: last.after, count: BigInt(readEditsMax) }),

    note(rows: readonly LogRow[]): Stamp {
      const [head] = rows;
      if (head === undefined) throw new Error('the store has no log');
      const { era = 0, newestEdit = 0n } = stamp ?? {};
      const found = rows.filter(({ pet_id }) => pet_id !== null);
      const now = isContinued(head, found.length)
        ? { newestId: 0n, newestEdit: newestEdit + BigInt(found.length), era }
        : { newestId: 0n, newestEdit, era: era + 1 };
      if (now.era === era) edits.add(found.map((row, place) => toEdit(row, newestEdit + BigInt(place) + 1n)));
      if (stamp?.era !== now.era || stamp.newestEdit !== now.newestEdit) stamp = now;
      last = { snapshot: head.snapshot, after: head.last_event, startedAt: head.started_at };
      return stamp;
    },

    latest: () => stamp,
    isFresh: (selection: PetSelection, since: Stamp, now: Stamp) =>
      isFreshSince(edits, selection, since, now),
  };
}

function toEdit(row: LogRow, id: bigint): Edit {
  const { pet_id, status, former_status, category_id, former_category_id } = row;
  return { id, pet_id, status, former_status, category_id, former_category_id } as Edit;
}
