import { type Clock, dayMs, hourMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { createRowBuffer } from '../storage/row-buffer.ts';
import { addRequests, deleteOldRequests, type NewRequestRow } from './request-rows.ts';

/** Time in ms for which the store keeps requests. */
export const requestsKeptMs = 7 * dayMs;
/** Maximum number of requests of an account and hour that get a row of their own, on each instance. */
export const ownRowsMax = 100;
/** Maximum number of rows in the store. Beyond, the oldest are deleted. */
export const requestRowsMax = 100_000;
/** Maximum number of rows that wait to be written while the store is unavailable. Further requests are left out. */
export const waitingRowsMax = 10_000;
/** Maximum number of rows that one statement deletes. */
const deletedRowsMax = 1_000n;

/** A request that was answered with a status of 400 or more, or that took over a second. */
export interface FailedRequest {
  /** Null without a valid key. */
  readonly accountId: bigint | null;
  readonly keyId: string | null;
  readonly address: string;
  /** Method and path of the operation. Null if there is no such operation. */
  readonly operation: string | null;
  readonly status: number;
  /** The code and the message of the error. Null for a slow request that succeeded. */
  readonly code: string | null;
  readonly message: string | null;
  readonly requestId: string;
  readonly durationMs: number;
}

/**
 * Records failed requests. They stay in memory until `flush` writes them. A flood cannot fill the store: requests that a
 * limit refused share one row for each key and hour. Beyond `ownRowsMax` rows of an account and hour, requests share a row
 * for each status and code. Such a row has the number of its requests, and no request id.
 */
export type FailedRequests = ReturnType<typeof createFailedRequests>;

/** Creates a recorder without rows. */
export function createFailedRequests(database: Database, clock: Clock) {
  const buffer = createRowBuffer(database, addRequests, addUp);
  const findRow = createRowFinder();

  return {
    note(request: FailedRequest): void {
      const nowMs = clock();
      const { name, keyId, isShared } = findRow(request, nowMs);
      if (!buffer.waiting.has(name) && buffer.waiting.size >= waitingRowsMax) return;
      buffer.add(name, {
        at_ms: BigInt(nowMs),
        last_at_ms: BigInt(nowMs),
        account_id: request.accountId,
        key_id: keyId,
        address: isShared ? null : request.address,
        operation: isShared ? null : request.operation,
        status: BigInt(request.status),
        code: request.code,
        message: isShared ? null : request.message,
        request_id: isShared ? null : request.requestId,
        duration_ms: BigInt(Math.round(request.durationMs)),
        times: 1n,
        merge_key: isShared ? name : null,
      });
    },

    /** Writes the rows. If a write fails, throws AppError `unavailable` and keeps the rows that are not written yet. */
    flush: buffer.flush,

    /** Deletes the rows that are older than `requestsKeptMs`, and the oldest beyond `requestRowsMax`. */
    async sweep(): Promise<void> {
      const beforeMs = BigInt(clock() - requestsKeptMs);
      const bounds = { beforeMs, keptMax: BigInt(requestRowsMax), count: deletedRowsMax };
      while ((await database.run(deleteOldRequests, bounds)).length > 0);
    },
  };
}

/** Returns a function that names the row of a request, and decides which requests share one. */
function createRowFinder() {
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

function addUp(earlier: NewRequestRow, later: NewRequestRow): NewRequestRow {
  const isLonger = later.duration_ms > earlier.duration_ms;
  return {
    ...earlier,
    last_at_ms: later.last_at_ms,
    duration_ms: isLonger ? later.duration_ms : earlier.duration_ms,
    times: earlier.times + later.times,
  };
}
