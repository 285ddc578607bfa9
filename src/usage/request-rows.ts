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
import { insertRow, isOfNoDeletedAccount } from '../storage/insert-row.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';

/** Time in ms for which the store keeps requests. */
export const requestsKeptMs = 7 * dayMs;
/** Maximum number of rows. `ofAccount` is that of each account, and of all requests without a valid key together. */
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

/** A new row. A row with a `merge_key` stands for `times` requests, and has the longest duration. */
export type NewRequestRow = Parameters<typeof insertRequest.build>[1];

/** Returns the row of all requests of two rows with the same `merge_key`. */
export function addUp(earlier: NewRequestRow, later: NewRequestRow): NewRequestRow {
  const isLonger = later.duration_ms > earlier.duration_ms;
  return {
    ...earlier,
    last_at_ms: later.last_at_ms,
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
      last_at_ms: p.last_at_ms,
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

/** Deletes the rows that are older than `olderThanMs`, and the oldest beyond the bounds. Reads an index of all rows. */
export async function sweepRequests(
  database: Database,
  olderThanMs: number,
  { all, ofAccount } = requestRowsMax,
): Promise<void> {
  await deleteOlder(database, olderThanMs);
  const full = await database.read(selectFullAccounts, { kept: BigInt(ofAccount) });
  for (const { account_id: id } of full)
    await deleteBeyond(database, id === null ? 'strangers' : 'account', id, ofAccount);
  await deleteBeyond(database, 'all', null, all);
}

const deleteOlder = deletesOld('requests', ['id'], 'last_at_ms', 'key');

/** The accounts with more than `kept` rows. Null stands for all requests without a valid key. */
const selectFullAccounts = statement((query, p: { kept: bigint }) =>
  query.selectFrom('requests').select('account_id').groupBy('account_id').having(sql`count(*)`, '>', p.kept),
);

/** Deletes the oldest rows beyond the newest `kept`. */
async function deleteBeyond(
  database: Database,
  counted: keyof typeof deleteOldest,
  accountId: bigint | null,
  kept: number,
): Promise<void> {
  const parameters = { accountId, kept: BigInt(kept), count: BigInt(deletedRowsMax) };
  while ((await database.run(deleteOldest[counted], parameters)).length === deletedRowsMax);
}

type Beyond = { accountId: bigint | null; kept: bigint; count: bigint };

/**
 * Counts rows, because PostgreSQL skips ids. The count is part of the statement that deletes, so two instances together
 * delete no more than the excess.
 */
const deleteOldestOf = (listRows: (p: Beyond) => RawBuilder<unknown>) =>
  statement((query, p: Beyond) => {
    const rows = listRows(p);
    const excess = sql`(select count(*) from (select 1 from ${rows} limit ${p.count} offset ${p.kept}) as beyond)`;
    return query
      .deleteFrom('requests')
      .where(sql<boolean>`id in (select id from ${rows} order by id limit ${excess})`)
      .returning('id');
  });

/** The rows that a bound counts: those of all requests, of an account, or of all requests without a valid key. */
const deleteOldest = {
  all: deleteOldestOf(() => sql`requests`),
  account: deleteOldestOf((p) => sql`requests where account_id = ${p.accountId}`),
  strangers: deleteOldestOf(() => sql`requests where account_id is null`),
};

export const eraseRequests = eraseNext('requests');
