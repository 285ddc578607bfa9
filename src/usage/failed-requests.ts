import { type Clock, dayMs, hourMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { createRowBuffer } from '../storage/row-buffer.ts';
import { addRequests, deleteOldRequests, deleteSurplusRequests, type NewRequest } from './request-rows.ts';

/** Time in ms for which the store keeps requests. */
export const requestsKeptMs = 7 * dayMs;
/** Maximum number of requests of an account and hour that get a row of their own, on each instance. */
export const ownRowsMax = 100;
/** Maximum number of rows in the store. Beyond, the oldest are deleted. */
export const requestRowsMax = 100_000;
/** Maximum number of rows that wait to be written while the store is unavailable. Further requests are left out. */
export const waitingRowsMax = 10_000;
/** Maximum number of rows that one statement deletes. */
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
export type FailedRequests = ReturnType<typeof createFailedRequests>;

/** Creates a recorder without rows. */
export function createFailedRequests(database: Database, clock: Clock) {
  const buffer = createRowBuffer(database, addRequests, addUp);
  const findRow = createSharing();

  return {
    /** `describe` is called only if the request gets a row of its own. */
    note(request: FailedRequest, describe: () => Description): void {
      const atMs = clock();
      const { accountId, status, code, requestId, durationMs } = request;
      const { name, keyId, isShared } = findRow(request, atMs);
      if (!buffer.waiting.has(name) && buffer.waiting.size >= waitingRowsMax) return;
      const own = isShared ? notOwn : { ...describe(), requestId };
      const mergeKey = isShared ? name : null;
      const row = { atMs, lastAtMs: atMs, accountId, keyId, ...own, status, code, mergeKey };
      buffer.add(name, { ...row, durationMs, times: 1 });
    },

    /** Writes the rows. If a write fails, throws AppError `unavailable` and keeps the rows that are not written yet. */
    flush: buffer.flush,

    /** Deletes the rows that are older than `requestsKeptMs`, and the oldest beyond `requestRowsMax`. */
    async sweep(): Promise<void> {
      const count = BigInt(deletedRowsMax);
      const old = { beforeMs: BigInt(clock() - requestsKeptMs), count };
      while ((await database.run(deleteOldRequests, old)).length === deletedRowsMax);
      const surplus = { keptMax: BigInt(requestRowsMax), count };
      while ((await database.run(deleteSurplusRequests, surplus)).length > 0);
    },
  };
}

/** Returns a function that names the row of a request, and decides which requests share one. */
function createSharing() {
  /** The names of the rows of the present hour, by account. */
  const rowsOf = new Map<bigint | null, Set<string>>();
  let hourAtMs = 0;
  let ownRows = 0;

  return ({ accountId, keyId, status, code }: FailedRequest, nowMs: number) => {
    if (nowMs - hourAtMs >= hourMs || nowMs < hourAtMs) {
      hourAtMs = nowMs - (nowMs % hourMs);
      rowsOf.clear();
    }
    const rows = rowsOf.get(accountId) ?? new Set();
    rowsOf.set(accountId, rows);
    const ofAccount = `${accountId ?? '-'} ${hourAtMs} ${status} ${code ?? '-'}`;
    const isShared = status === 429;
    ownRows += 1;
    const name = isShared ? `${ofAccount} ${keyId ?? '-'}` : `own ${String(ownRows).padStart(16, '0')}`;
    if (!rows.has(name) && rows.size >= ownRowsMax) return { name: ofAccount, keyId: null, isShared: true };
    rows.add(name);
    return { name, keyId, isShared };
  };
}

/** What a row of several requests does not keep. */
const notOwn = { address: null, operation: null, message: null, requestId: null };

function addUp(earlier: NewRequest, later: NewRequest): NewRequest {
  return {
    ...earlier,
    lastAtMs: Math.max(earlier.lastAtMs, later.lastAtMs),
    durationMs: Math.max(earlier.durationMs, later.durationMs),
    times: earlier.times + later.times,
  };
}
