import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/**
 * Keeps others from using a key until the transaction ends; `is_free` is 0 while another does. On SQLite transactions run
 * one after the other, so the key is always free.
 */
export const lockKey = statement<{ lock: bigint }>()((query, p, { engine }) =>
  query.selectNoFrom(
    (engine === 'postgres'
      ? sql<bigint>`cast(pg_try_advisory_xact_lock(cast(${p.lock} as bigint)) as int)`
      : sql<bigint>`cast(${p.lock} is not null as integer)`
    ).as('is_free'),
  ),
);

/** What an account's key was answered with first, in one row or none. */
export const selectFirstAnswer = statement<{ accountId: bigint; keyHash: Uint8Array; outlivedMs: bigint }>()(
  (query, p) =>
    query
      .selectFrom('first_answers')
      .select(['operation', 'body_hash', 'status', 'location', 'body'])
      .where('account_id', '=', p.accountId)
      .where('key_hash', '=', p.keyHash)
      .where('created_at_ms', '>', p.outlivedMs),
);

/** Keeps the first answer of a key; one that has outlived its day gives way. */
export const upsertFirstAnswer = statement<{
  accountId: bigint;
  keyHash: Uint8Array;
  operation: string;
  bodyHash: Uint8Array;
  status: bigint;
  location: string;
  body: string;
  createdAtMs: bigint;
}>()((query, p) =>
  query
    .insertInto('first_answers')
    .values({
      account_id: p.accountId,
      key_hash: p.keyHash,
      operation: p.operation,
      body_hash: p.bodyHash,
      status: p.status,
      location: p.location,
      body: p.body,
      created_at_ms: p.createdAtMs,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'key_hash']).doUpdateSet((excluded) => ({
        operation: excluded.ref('excluded.operation'),
        body_hash: excluded.ref('excluded.body_hash'),
        status: excluded.ref('excluded.status'),
        location: excluded.ref('excluded.location'),
        body: excluded.ref('excluded.body'),
        created_at_ms: excluded.ref('excluded.created_at_ms'),
      })),
    ),
);

/**
 * Drops a bounded number of answers that are older than `beforeMs`, the oldest first; gives a row for each. The age is
 * asked for twice: an answer that was found may be renewed before it is dropped, and PostgreSQL then only asks again what
 * stands outside.
 */
export const deleteOldFirstAnswers = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('first_answers')
    .where('created_at_ms', '<', p.beforeMs)
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'key_hash'),
        'in',
        selectFrom('first_answers')
          .select(['account_id', 'key_hash'])
          .where('created_at_ms', '<', p.beforeMs)
          .orderBy('created_at_ms')
          .limit(p.count)
          .$asTuple('account_id', 'key_hash'),
      ),
    )
    .returning('account_id'),
);
