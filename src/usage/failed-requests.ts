import { type Clock, dayMs, hourMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { addRequests, deleteOldRequests, deleteSurplusRequests, type RequestRow } from './request-rows.ts';

/** Time in ms for which the store keeps requests. */
export const requestsKeptMs = 7 * dayMs;
/** Maximum number of requests of an account and hour that get a row of their own, on each instance. */
export const ownRowsMax = 100;
/** Maximum number of rows in the store. Beyond, the oldest are deleted. */
export const requestRowsMax = 100_000;
/** Maximum number of rows that wait to be written while the store is unavailable. Further requests are left out. */
export const waitingRowsMax = 10_000;
/** Maximum number of rows per transaction. */
const writtenRowsMax = 250;
const deletedRowsMax = 1_000;

/** A request that was answered with a status of 400 or more, or that took over a second. */
export interface FailedRequest {
  /** Null without a valid key. */
  readonly accountId: bigint | null;
  readonly keyId: string | null;
  readonly status: number;
  /** The code of the error. Null for a slow request that succeeded. */
  readonly code: string | null;
  readonly requestId: string;
  readonly durationMs: number;
}

/** What only a row of one request keeps. */
interface Description {
  readonly address: string;
  /** Method and path of the operation. Null if there is no such operation. */
  readonly operation: string | null;
  /** The message of the error. Null for a slow request that succeeded. */
  readonly message: string | null;
}

/**
 * Records failed requests. They stay in memory until `flush` writes them.
 *
 * A flood cannot fill the store: requests that a limit refused share one row for each key and hour. Beyond `ownRowsMax`
 * rows of an account and hour, requests share a row for each status and code. Such a row keeps the number of its
 * requests and no request id.
 */
export interface FailedRequests {
  /** `describe` is called only if the request gets a row of its own. */
  note(request: FailedRequest, describe: () => Description): void;
  /** Writes the rows. If a write fails, throws AppError `unavailable` and keeps the rows that are not written yet. */
  flush(): Promise<void>;
  /** Deletes the rows that are older than `requestsKeptMs`, and the oldest beyond `requestRowsMax`. */
  sweep(): Promise<void>;
}

/** Creates a recorder without rows. */
export function createFailedRequests(database: Database, clock: Clock): FailedRequests {
  const rows = createWaitingRows(clock);
  /** Flushes run one after the other, because simultaneous flushes would write the same rows. */
  let running: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    const taken = rows.take();
    try {
      for (; taken.length > 0; taken.splice(0, writtenRowsMax))
        await database.transact(addRequests, taken.slice(0, writtenRowsMax).map(toRow));
    } catch (error) {
      for (const row of taken) rows.add(row);
      throw error;
    }
  }

  return {
    note: rows.note,

    flush() {
      running = running.then(writeAll, writeAll);
      return running;
    },

    async sweep() {
      const count = BigInt(deletedRowsMax);
      const old = { beforeMs: BigInt(clock() - requestsKeptMs), count };
      while ((await database.run(deleteOldRequests, old)).length === deletedRowsMax);
      const surplus = { keptMax: BigInt(requestRowsMax), count };
      while ((await database.run(deleteSurplusRequests, surplus)).length > 0);
    },
  };
}

/** Decides which requests share a row. */
function createSharing() {
  /** The numbers of rows of the present hour by account. */
  const rowsOf = new Map<bigint | null, number>();
  /** The shared rows of keys that have been counted in `rowsOf`. */
  const counted = new Set<string>();
  let hourAtMs = 0;

  return {
    /** Returns the name of the row that a request shares, or null if it gets a row of its own, and the row's key. */
    place({ accountId, keyId, status, code }: FailedRequest, nowMs: number) {
      if (nowMs - hourAtMs >= hourMs || nowMs < hourAtMs) {
        hourAtMs = nowMs - (nowMs % hourMs);
        rowsOf.clear();
        counted.clear();
      }
      const rows = rowsOf.get(accountId) ?? 0;
      const isRefusal = status === 429;
      if (!isRefusal && rows < ownRowsMax) {
        rowsOf.set(accountId, rows + 1);
        return { mergeKey: null, keyId };
      }
      const ofAccount = `${accountId ?? '-'} ${hourAtMs} ${status} ${code ?? '-'}`;
      if (!isRefusal) return { mergeKey: ofAccount, keyId: null };
      const ofKey = `${ofAccount} ${keyId ?? '-'}`;
      if (counted.has(ofKey)) return { mergeKey: ofKey, keyId };
      if (rows >= ownRowsMax) return { mergeKey: ofAccount, keyId: null };
      rowsOf.set(accountId, rows + 1);
      counted.add(ofKey);
      return { mergeKey: ofKey, keyId };
    },
  };
}

/** A row that is not written yet. If it is shared, each further request changes its last three fields. */
interface WaitingRow extends Omit<RequestRow, 'lastAtMs' | 'durationMs' | 'times'> {
  lastAtMs: number;
  durationMs: number;
  times: number;
}

function createWaitingRows(clock: Clock) {
  /** A shared row is found by its `mergeKey`. */
  const waiting = new Map<string, WaitingRow>();
  const sharing = createSharing();
  let rowsAdded = 0;

  function add(row: WaitingRow): void {
    rowsAdded += 1;
    const name = row.mergeKey ?? String(rowsAdded);
    const shared = waiting.get(name);
    if (shared !== undefined) sumUp(shared, row);
    else if (waiting.size < waitingRowsMax) waiting.set(name, row);
  }

  return {
    add,
    note(request: FailedRequest, describe: () => Description): void {
      const nowMs = clock();
      const { mergeKey, keyId } = sharing.place(request, nowMs);
      const counts = { lastAtMs: nowMs, durationMs: request.durationMs, times: 1 };
      const shared = mergeKey === null ? undefined : waiting.get(mergeKey);
      if (shared !== undefined) {
        sumUp(shared, counts);
        return;
      }
      const { accountId, status, code, requestId } = request;
      add({
        atMs: BigInt(nowMs),
        accountId,
        keyId,
        ...(mergeKey === null ? { ...describe(), requestId } : notOwn),
        status: BigInt(status),
        code,
        mergeKey,
        ...counts,
      });
    },
    /** Removes all rows and returns them, in an order in which instances do not deadlock. */
    take(): WaitingRow[] {
      const taken = [...waiting.values()].sort((one, other) =>
        (one.mergeKey ?? '') < (other.mergeKey ?? '') ? -1 : 1,
      );
      waiting.clear();
      return taken;
    },
  };
}

/** What a row of several requests does not keep. */
const notOwn = { address: null, operation: null, message: null, requestId: null };

/** Adds further requests to a shared row. */
function sumUp(row: WaitingRow, more: Pick<WaitingRow, 'lastAtMs' | 'durationMs' | 'times'>): void {
  row.lastAtMs = Math.max(row.lastAtMs, more.lastAtMs);
  row.durationMs = Math.max(row.durationMs, more.durationMs);
  row.times += more.times;
}

function toRow({ lastAtMs, durationMs, times, ...row }: WaitingRow): RequestRow {
  return {
    ...row,
    lastAtMs: BigInt(lastAtMs),
    durationMs: BigInt(Math.round(durationMs)),
    times: BigInt(times),
  };
}
