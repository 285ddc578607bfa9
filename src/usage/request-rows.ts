import { type RawBuilder, sql } from 'kysely';
import { dayMs } from '../clock.ts';
import {
  type Database,
  lastStep,
  type Steps,
  statement,
  together,
  transaction,
} from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import { eraseNext } from '../storage/erase.ts';
import { insertRow, isOfNoDeletedAccount, pick } from '../storage/insert-row.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';

/** Time in ms for which the store keeps requests. */
export const requestsKeptMs = 7 * dayMs;
/**
 * Maximum number of rows. `ofAccount` is that of each account. All requests without a valid key count as one account.
 */
export const requestRowsMax = { all: 100_000, ofAccount: 10_000 };
/** Maximum number of rows that one statement deletes, so that other writes can run in between. */
const deletedRowsMax = 1_000;

const columns = [
  ...(['at_ms', 'last_at_ms', 'account_id', 'key_id', 'address', 'operation', 'status'] as const),
  ...(['subject', 'code', 'message', 'request_id', 'duration_ms', 'times', 'merge_key'] as const),
];

const insertRequest = insertRow('requests', columns, undefined, ({ account_id }) =>
  isOfNoDeletedAccount(account_id),
);

/** A new row. A row with a `merge_key` stands for `times` requests: it is about the last one, and has the longest duration. */
export type NewRequestRow = Parameters<typeof insertRequest.build>[1];

/** Returns the row of all requests of two rows with the same `merge_key`. */
export function addUp(earlier: NewRequestRow, later: NewRequestRow): NewRequestRow {
  const isLonger = later.duration_ms > earlier.duration_ms;
  return {
    ...later,
    at_ms: earlier.at_ms,
    duration_ms: isLonger ? later.duration_ms : earlier.duration_ms,
    times: earlier.times + later.times,
  };
}

/** Adds a row of no requests, unless there is one with the same `merge_key`. An upsert takes an id even then. */
const insertMissing = statement((query, p: NewRequestRow) =>
  query
    .insertInto('requests')
    .columns(columns)
    .expression(
      sql`select ${sql.join(columns.map((name) => (name === 'times' ? sql.lit(0n) : p[name])))}
        where not exists (select 1 from requests where merge_key = ${p.merge_key})
          and ${isOfNoDeletedAccount(p.account_id)}`,
    )
    .onConflict((existing) => existing.column('merge_key').doNothing()),
);

const addToMerged = statement((query, p: NewRequestRow) =>
  query
    .updateTable('requests')
    .set({
      ...pick(p, ['last_at_ms', 'operation', 'subject', 'message', 'request_id']),
      duration_ms: sql`case when duration_ms < ${p.duration_ms} then ${p.duration_ms} else duration_ms end`,
      times: sql`times + ${p.times}`,
    })
    .where('merge_key', '=', p.merge_key),
);

/** Writes rows, but none of a deleted account. A row with the `merge_key` of a stored one is added to it. */
export const addRequests = transaction(
  'addRequests',
  'row locks',
  function* (entries: NamedEntries<NewRequestRow>): Steps<void> {
    const steps = entries.flatMap(([, row]) => {
      const statements = row.merge_key === null ? [insertRequest] : [insertMissing, addToMerged];
      return statements.map((each) => lastStep(each, row));
    });
    yield* together(...steps);
  },
);

/**
 * Deletes the rows that are older than `olderThanMs`, and the oldest of each account beyond its share (`shareRows`). Reads an
 * index of all rows.
 */
export async function sweepRequests(
  database: Database,
  olderThanMs: number,
  bounds = requestRowsMax,
): Promise<void> {
  await deleteOlder(database, olderThanMs);
  const accounts = await database.read(countRows, {});
  const kept = shareRows(
    accounts.map(({ count }) => Number(count)),
    bounds,
  );
  for (const { account_id: id, count } of accounts) if (count > kept) await deleteBeyond(database, id, kept);
}

const deleteOlder = deletesOld('requests', ['id'], 'last_at_ms', 'key');

/** The number of rows of each account. Null stands for all requests without a valid key. */
const countRows = statement((query) =>
  query
    .selectFrom('requests')
    .select(({ fn }) => ['account_id', fn.countAll<bigint>().as('count')])
    .groupBy('account_id'),
);

/**
 * Returns how many rows each account may keep, so that all together have at most `all`: an account with more than this number
 * loses its oldest rows, and no other account loses a row. Each keeps its newest row, even if there are more than `all` accounts.
 */
export function shareRows(counts: readonly number[], { all, ofAccount }: typeof requestRowsMax): number {
  let room = all;
  let sharing = counts.length;
  for (const count of counts.toSorted((one, other) => one - other)) {
    const share = Math.max(1, Math.floor(room / sharing));
    if (count > share) return Math.min(share, ofAccount);
    room -= count;
    sharing -= 1;
  }
  return ofAccount;
}

/** Deletes the oldest rows of an account beyond the newest `kept`. */
async function deleteBeyond(database: Database, accountId: bigint | null, kept: number): Promise<void> {
  const parameters = { accountId, kept: BigInt(kept), count: BigInt(deletedRowsMax) };
  const deleteNext = accountId === null ? deleteOldest.ofStrangers : deleteOldest.ofAccount;
  while ((await database.run(deleteNext, parameters)).length === deletedRowsMax);
}

type Beyond = { accountId: bigint | null; kept: bigint; count: bigint };

/**
 * Counts rows, because PostgreSQL skips ids. The count is part of the statement that deletes, so two instances together
 * delete no more than the excess.
 */
const deleteOldestOf = (isOfAccount: (p: Beyond) => RawBuilder<unknown>) =>
  statement((query, p: Beyond) => {
    const rows = sql`requests where ${isOfAccount(p)}`;
    const excess = sql`(select count(*) from (select 1 from ${rows} limit ${p.count} offset ${p.kept}) as beyond)`;
    return query
      .deleteFrom('requests')
      .where(sql<boolean>`id in (select id from ${rows} order by last_at_ms, id limit ${excess})`)
      .returning('id');
  });

const deleteOldest = {
  ofAccount: deleteOldestOf((p) => sql`account_id = ${p.accountId}`),
  ofStrangers: deleteOldestOf(() => sql`account_id is null`),
};

export const eraseRequests = eraseNext('requests');
