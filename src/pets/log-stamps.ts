import { hourMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import type { Edit, PetSelection } from './pet-selection.ts';
import { createRecentEdits } from './recent-edits.ts';
import { type LogRow, selectLogSince } from './stamp-rows.ts';
import { isFreshSince, type Stamp, type Stamps } from './stamps.ts';

/** The most edits in one read. If there are more, all cached answers become stale. */
const readEditsMax = 1_000;
/** The most edits that are kept. An answer older than all of them is made again. */
const editsMax = 10_000;
/**
 * The longest time between two reads that still count as continuous. This is safe because the store keeps events for
 * days: none that the next read needs is deleted before it.
 */
const readingMsMax = hourMs;

/** The moment of a read. The next read returns everything committed since. */
interface Reading {
  readonly snapshot: string;
  readonly after: bigint;
  readonly startedAt: string;
  readonly atMs: number;
}

/** The moment before the first read. */
const nothing: Reading = { snapshot: '1:1:', after: int64Max, startedAt: '', atMs: Number.NEGATIVE_INFINITY };

interface Turn {
  readonly promise: Promise<Stamp>;
  readonly resolve: (stamp: Stamp) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates the stamps of a store on a database server (PostgreSQL). One read of the log serves all requests that arrived
 * before it was sent. It returns every edit committed since the last read, with or without a position in the feed.
 *
 * A request that arrives during a read waits for the next one, which begins when the current one ends. If no read is
 * running, the request waits for the end of the turn of the event loop.
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

/** The edits read from the log. They are numbered by this instance in the order in which it reads them. */
function createLog() {
  const edits = createRecentEdits(editsMax);
  let last = nothing;
  let stamp: Stamp | null = null;

  /** Whether all edits since the last read are certainly here. Otherwise a new era begins. */
  function isContinued({ started_at, last_event }: LogRow, count: number): boolean {
    return (
      started_at === last.startedAt &&
      last_event >= last.after &&
      count < readEditsMax &&
      performance.now() - last.atMs < readingMsMax
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
      last = {
        snapshot: head.snapshot,
        after: head.last_event,
        startedAt: head.started_at,
        atMs: performance.now(),
      };
      return stamp;
    },

    latest: () => stamp,
    isFresh: (selection: PetSelection, since: Stamp, now: Stamp) =>
      isFreshSince(edits, selection, since, now),
  };
}

/** The edit in a row that has one. */
function toEdit(row: LogRow, id: bigint): Edit {
  const { pet_id, status, former_status, category_id, former_category_id } = row;
  return { id, pet_id, status, former_status, category_id, former_category_id } as Edit;
}
