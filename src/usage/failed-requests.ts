import { sql } from 'kysely';
import { type Clock, hourMs } from '../clock.ts';
import { byFilters, type Database, type RowOf, statement } from '../storage/database.ts';
import type { Page } from '../storage/read-page.ts';
import { type PageQuery, type PageRange, readPage } from '../storage/read-page.ts';
import { createRowBuffer } from '../storage/row-buffer.ts';
import { addRequests, addUp, requestsKeptMs, sweepRequests } from './request-rows.ts';

/** Maximum number of requests of an account and hour that get a row of their own, on each instance. */
export const ownRowsMax = 100;
/** Maximum number of rows that wait to be written while the store is unavailable. Further requests are left out. */
export const waitingRowsMax = 10_000;

/** A request that was answered with a status of 400 or more, or that took over a second. */
export interface FailedRequest {
  /** Null without a valid key. */
  readonly accountId: bigint | null;
  readonly keyId: string | null;
  readonly address: string;
  /** Method and path of the operation. Null if there is no such operation. */
  readonly operation: string | null;
  /** What the request was about, such as `animal 7`. Null if it named no object. */
  readonly subject: string | null;
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
 * for each status and code. Such a row has the number of its requests, and is about the last one, without its address.
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
        operation: request.operation,
        subject: request.subject,
        status: BigInt(request.status),
        code: request.code,
        message: request.message,
        request_id: request.requestId,
        duration_ms: BigInt(Math.round(request.durationMs)),
        times: 1n,
        merge_key: isShared ? name : null,
      });
    },

    /** Writes the rows. If a write fails, throws AppError `unavailable` and keeps the rows that are not written yet. */
    flush: buffer.flush,

    /** Deletes the rows that are too old, and the oldest beyond the bounds. */
    sweep: () => sweepRequests(database, clock() - requestsKeptMs),
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

type Filter = {
  readonly accountId: bigint;
  readonly keyId: string;
  readonly status: bigint;
  readonly code: string;
  /** Unix milliseconds. */
  readonly sinceMs: bigint;
  readonly untilMs: bigint;
  readonly requestId: string;
};

const filters = ['accountId', 'keyId', 'status', 'code', 'sinceMs', 'untilMs', 'requestId'] as const;

const selectPage = byFilters(filters, (query, p: Filter & PageRange, set) =>
  query
    .selectFrom('requests')
    .leftJoin('accounts', 'accounts.id', 'requests.account_id')
    .select(['requests.id', 'at_ms', 'last_at_ms', 'times', 'accounts.name as account', 'key_id'])
    .select(['address', 'operation', 'subject', 'status', 'code', 'message', 'request_id', 'duration_ms'])
    .where('requests.id', '<=', p.newestId)
    .$if(set.accountId, (rows) => rows.where('account_id', '=', p.accountId))
    .$if(set.keyId, (rows) => rows.where('key_id', '=', p.keyId))
    .$if(set.status, (rows) => rows.where('status', '=', p.status))
    .$if(set.code, (rows) => rows.where('code', '=', p.code))
    .$if(set.sinceMs, (rows) => rows.where('last_at_ms', '>=', p.sinceMs))
    .$if(set.untilMs, (rows) => rows.where('at_ms', '<', p.untilMs))
    .$if(set.requestId, (rows) => rows.where('request_id', '=', p.requestId))
    .orderBy('requests.id', 'desc')
    .limit(p.count),
);

/** A stored request, or several that share a row. Times are Unix milliseconds. */
export type ListedRequest = ReturnType<typeof toListed>;

/** Returns a page of the stored requests, newest first. */
export function listRequests(database: Database, query: PageQuery<Filter>): Promise<Page<ListedRequest>> {
  return readPage(database, selectPage, query, toListed);
}

/** A row of several requests is about the last one, without its address. */
function toListed(row: RowOf<typeof selectPage>) {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    lastAtMs: Number(row.last_at_ms),
    /** The number of requests of the row. */
    times: Number(row.times),
    /** The current name of the account; null for requests without a valid key. */
    account: row.account,
    keyId: row.key_id,
    address: row.address,
    operation: row.operation,
    subject: row.subject,
    status: Number(row.status),
    code: row.code,
    message: row.message,
    requestId: row.request_id,
    durationMs: Number(row.duration_ms),
  };
}

/** Reads by the index of request ids, which a page does not: it reads the newest rows first. */
const selectByRequestId = statement((query, p: { requestId: string; count: bigint }) =>
  query
    .selectFrom('requests')
    .select(['operation', 'status', 'code'])
    .select(
      sql<string | null>`(select name from accounts where accounts.id = requests.account_id)`.as('account'),
    )
    .where('request_id', '=', p.requestId)
    .limit(p.count),
);

/** Returns at most `count` stored requests with this request id. */
export async function findRequests(database: Database, requestId: string, count: number) {
  const rows = await database.read(selectByRequestId, { requestId, count: BigInt(count) });
  return rows.map((row) => ({ ...row, status: Number(row.status) }));
}
