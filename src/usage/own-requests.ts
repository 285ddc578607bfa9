import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import { int64Max } from '../int64.ts';
import { byFilters, type Database, type RowOf } from '../storage/database.ts';
import type { Page } from '../storage/read-page.ts';
import { requestsKeptMs } from './request-rows.ts';

/** The place of a row in the list. A row moves to the front if a later request joins it. */
export type RequestPlace = { readonly lastAtMs: bigint; readonly id: bigint };

/** The requests that an account asks for. A filter that is null matches everything. */
export interface OwnRequestsQuery {
  readonly accountId: bigint;
  readonly requestId: string | null;
  readonly status: number | null;
  readonly code: string | null;
  /** Unix milliseconds: the first that counts, and the first that no longer counts. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly limit: number;
  /** Null: the page begins at the newest request. */
  readonly start: RequestPlace | null;
}

/** A request of an account that failed or took over a second, or several that share a row: then it is about the last one. */
export type OwnRequest = ReturnType<typeof toOwnRequest>;

/** Lists the recorded requests of an account. */
export type ListOwnRequests = ReturnType<typeof createOwnRequests>;

/** Returns a function that returns a page of the requests of the last 7 days, newest first. */
export function createOwnRequests(database: Database, clock: Clock) {
  return async (query: OwnRequestsQuery): Promise<Page<OwnRequest, RequestPlace>> => {
    const { accountId, requestId, status, code, sinceMs, untilMs, limit, start } = query;
    const newest = start ?? { lastAtMs: untilMs === null ? int64Max : BigInt(untilMs) - 1n, id: int64Max };
    const rows = await database.read(selectOwn, {
      accountId,
      requestId,
      status: status === null ? null : BigInt(status),
      code,
      sinceMs: BigInt(Math.max(sinceMs ?? 0, clock() - requestsKeptMs)),
      newestAtMs: newest.lastAtMs,
      newestId: newest.id,
      count: BigInt(limit) + 1n,
    });
    const next = rows[limit];
    return {
      items: rows.slice(0, limit).map(toOwnRequest),
      next: next === undefined ? null : { lastAtMs: next.last_at_ms, id: next.id },
    };
  };
}

type Own = {
  readonly accountId: bigint;
  readonly requestId: string;
  readonly status: bigint;
  readonly code: string;
  readonly sinceMs: bigint;
  readonly newestAtMs: bigint;
  readonly newestId: bigint;
  readonly count: bigint;
};

/**
 * The bounds and the order match only the index over these columns, so the planner of PostgreSQL has no other choice. A request
 * id has an index of its own: the plus keeps both engines from taking that of the account.
 */
const selectOwn = byFilters(['requestId', 'status', 'code'], (query, p: Own, set) => {
  const account = set.requestId ? sql`+account_id` : sql`account_id`;
  return query
    .selectFrom('requests')
    .select(['id', 'last_at_ms', 'times', 'key_id', 'operation', 'status', 'code', 'message'])
    .select(['request_id', 'duration_ms'])
    .where(sql<boolean>`(${account}, last_at_ms, id) <= (${p.accountId}, ${p.newestAtMs}, ${p.newestId})`)
    .where(sql<boolean>`(${account}, last_at_ms) >= (${p.accountId}, ${p.sinceMs})`)
    .$if(set.requestId, (rows) => rows.where('request_id', '=', p.requestId))
    .$if(set.status, (rows) => rows.where('status', '=', p.status))
    .$if(set.code, (rows) => rows.where('code', '=', p.code))
    .orderBy(account, 'desc')
    .orderBy('last_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p.count);
});

function toOwnRequest(row: RowOf<typeof selectOwn>) {
  return {
    at: new Date(Number(row.last_at_ms)).toISOString(),
    requestId: row.request_id,
    operation: row.operation,
    status: Number(row.status),
    code: row.code,
    message: row.message,
    durationMs: Number(row.duration_ms),
    keyId: row.key_id,
    count: Number(row.times),
  };
}
