import { sql } from 'kysely';
import type { Page } from '../page.ts';
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
import { type PageQuery, type PageRange, readPage } from '../storage/read-page.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';

/** Adds a row. If a row with the same `merge_key` exists, adds to this row. */
const addRequest = insertRow(
  'requests',
  [
    ...(['at_ms', 'last_at_ms', 'account_id', 'key_id', 'address', 'operation', 'status'] as const),
    ...(['code', 'message', 'request_id', 'duration_ms', 'times', 'merge_key'] as const),
  ],
  { on: ['merge_key'], replace: ['last_at_ms', 'duration_ms'], add: ['times'] },
);

/** A new row. A row with a `merge_key` stands for `times` requests, and has the longest duration. */
export type NewRequestRow = Parameters<typeof addRequest.build>[1];

/** Adds the rows of one instance. */
export const addRequests = defineTransaction(
  'addRequests',
  function* (rows: NamedEntries<NewRequestRow>): Steps<void> {
    for (const [, row] of rows) yield* step(addRequest, row);
  },
  'row locks',
);

/** Deletes those of the `count` oldest rows that are older than `beforeMs`, or beyond the `keptMax` newest ids. */
export const deleteOldRequests = statement<{ beforeMs: bigint; keptMax: bigint; count: bigint }>()(
  (query, p) =>
    query
      .deleteFrom('requests')
      .where(sql<boolean>`id < (select min(oldest.id) from requests as oldest) + ${p.count}`)
      .where(
        sql<boolean>`(last_at_ms < ${p.beforeMs}
          or id <= (select max(newest.id) from requests as newest) - ${p.keptMax})`,
      )
      .returning('id'),
);

type Filter = {
  readonly accountId: bigint | null;
  readonly keyId: string | null;
  readonly status: bigint | null;
  readonly code: string | null;
  /** Unix milliseconds. */
  readonly sinceMs: bigint | null;
  readonly requestId: string | null;
};

const selectPage = byFilters((isSet: (name: keyof Filter) => boolean) =>
  statement<Filter & PageRange>()((query, p) =>
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

/** A stored request, or several that share a row. Times are Unix milliseconds. */
export type ListedRequest = ReturnType<typeof toListed>;

/** Returns a page of the stored requests, newest first. */
export function listRequests(database: Database, query: PageQuery<Filter>): Promise<Page<ListedRequest>> {
  return readPage(database, selectPage, query, toListed);
}

/** A row of several requests has no request id, no address and no message. */
function toListed(row: RowOf<ReturnType<typeof selectPage>>) {
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
    status: Number(row.status),
    code: row.code,
    message: row.message,
    requestId: row.request_id,
    durationMs: Number(row.duration_ms),
  };
}
