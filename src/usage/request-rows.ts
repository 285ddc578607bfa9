import { sql } from 'kysely';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import {
  byFilters,
  type Database,
  defineTransaction,
  type RowOf,
  type Steps,
  statement,
  step,
} from '../storage/database.ts';
import { insertRow } from '../storage/insert-row.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';
import type { FailedRequest } from './failed-requests.ts';

/** A new row of the table `requests`. A row with a `mergeKey` stands for `times` requests, and has the longest duration. */
export interface NewRequest extends Omit<FailedRequest, 'requestId'> {
  readonly atMs: number;
  readonly lastAtMs: number;
  readonly address: string | null;
  readonly operation: string | null;
  readonly message: string | null;
  readonly requestId: string | null;
  readonly times: number;
  readonly mergeKey: string | null;
}

/** Adds a row. If a row with the same `merge_key` exists, adds to this row. */
const addRequest = insertRow(
  'requests',
  [
    ...(['at_ms', 'last_at_ms', 'account_id', 'key_id', 'address', 'operation', 'status'] as const),
    ...(['code', 'message', 'request_id', 'duration_ms', 'times', 'merge_key'] as const),
  ],
  { on: ['merge_key'], replace: ['last_at_ms', 'duration_ms'], add: ['times'] },
);

/** Adds the rows of one instance. */
export const addRequests = defineTransaction(
  'addRequests',
  function* (rows: NamedEntries<NewRequest>): Steps<void> {
    for (const [, row] of rows)
      yield* step(addRequest, {
        at_ms: BigInt(row.atMs),
        last_at_ms: BigInt(row.lastAtMs),
        account_id: row.accountId,
        key_id: row.keyId,
        address: row.address,
        operation: row.operation,
        status: BigInt(row.status),
        code: row.code,
        message: row.message,
        request_id: row.requestId,
        duration_ms: BigInt(Math.round(row.durationMs)),
        times: BigInt(row.times),
        merge_key: row.mergeKey,
      });
  },
  'row locks',
);

/** Deletes those of the `count` oldest ids that are older than `beforeMs`, and returns them. */
export const deleteOldRequests = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('requests')
    .where(sql<boolean>`id < (select min(oldest.id) from requests as oldest) + ${p.count}`)
    .where('last_at_ms', '<', p.beforeMs)
    .returning('id'),
);

/** Deletes at most `count` of the oldest rows, so that at most `keptMax` ids remain. Returns the deleted ids. */
export const deleteSurplusRequests = statement<{ keptMax: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('requests')
    .where(sql<boolean>`id < (select min(oldest.id) from requests as oldest) + ${p.count}`)
    .where(sql<boolean>`id <= (select max(newest.id) from requests as newest) - ${p.keptMax}`)
    .returning('id'),
);

/** The filters, the size and the start of a page of requests. Absent filters match all requests. */
export interface RequestQuery {
  readonly accountId?: bigint | undefined;
  readonly keyId?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  /** Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly limit: number;
  /** Id of the first row on the page. Null: the page starts at the newest row. */
  readonly newestId: bigint | null;
}

/** A stored request, or several that share a row. Times are Unix milliseconds. */
export type ListedRequest = ReturnType<typeof toListed>;

/** Returns a page of the stored requests, newest first. */
export async function listRequests(database: Database, query: RequestQuery): Promise<Page<ListedRequest>> {
  const { accountId, keyId, status, code, sinceMs, requestId, limit, newestId } = query;
  const filter: Filter = {
    accountId: accountId ?? null,
    keyId: keyId ?? null,
    status: status === undefined ? null : BigInt(status),
    code: code ?? null,
    sinceMs: sinceMs === undefined ? null : BigInt(sinceMs),
    requestId: requestId ?? null,
  };
  const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
  const rows = await database.read(selectPage(filter), { ...filter, ...range });
  return toPage(rows, limit, toListed);
}

type Filter = {
  readonly accountId: bigint | null;
  readonly keyId: string | null;
  readonly status: bigint | null;
  readonly code: string | null;
  readonly sinceMs: bigint | null;
  readonly requestId: string | null;
};
/** The statement that selects a page, newest first. */
const selectPage = byFilters((isSet: (name: keyof Filter) => boolean) =>
  statement<Filter & { newestId: bigint; count: bigint }>()((query, p) =>
    query
      .selectFrom('requests')
      .leftJoin('accounts', 'accounts.id', 'requests.account_id')
      .select(['requests.id', 'at_ms', 'last_at_ms', 'times', 'accounts.name as account', 'key_id'])
      .select(['address', 'operation', 'status', 'code', 'message', 'request_id', 'duration_ms'])
      .where('requests.id', '<=', p.newestId)
      .$if(isSet('accountId'), (narrowed) => narrowed.where('account_id', '=', p.accountId))
      .$if(isSet('keyId'), (narrowed) => narrowed.where('key_id', '=', p.keyId))
      .$if(isSet('status'), (narrowed) => narrowed.where('status', '=', sql<bigint>`${p.status}`))
      .$if(isSet('code'), (narrowed) => narrowed.where('code', '=', p.code))
      .$if(isSet('sinceMs'), (narrowed) => narrowed.where('last_at_ms', '>=', sql<bigint>`${p.sinceMs}`))
      .$if(isSet('requestId'), (narrowed) => narrowed.where('request_id', '=', p.requestId))
      .orderBy('requests.id', 'desc')
      .limit(p.count),
  ),
);

/** A row of several requests has no request id, no address and no message. */
function toListed(row: RowOf<ReturnType<typeof selectPage>>) {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    /** The time of the last request of the row. */
    lastAtMs: Number(row.last_at_ms),
    /** The number of requests of the row. */
    times: Number(row.times),
    /** The current name of the account; null for requests without a valid key. */
    account: row.account,
    keyId: row.key_id,
    address: row.address,
    operation: row.operation,
    status: Number(row.status),
    code: row.code,
    message: row.message,
    requestId: row.request_id,
    durationMs: Number(row.duration_ms),
  };
}
