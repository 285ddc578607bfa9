import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/**
 * Tries to lock a key until the transaction ends. `is_free` is 0 if another transaction has the lock. On SQLite it is
 * always 1, because transactions run one after the other.
 */
export const lockKey = statement<{ lock: bigint }>()((query, p, { engine }) =>
  query.selectNoFrom(
    (engine === 'postgres'
      ? sql<bigint>`cast(pg_try_advisory_xact_lock(cast(${p.lock} as bigint)) as int)`
      : sql<bigint>`cast(${p.lock} is not null as integer)`
    ).as('is_free'),
  ),
);

/**
 * Selects the stored response to a key of an account, in one row or none. Ignores responses stored at or before
 * `outlivedMs`.
 */
export const selectFirstAnswer = statement<{ accountId: bigint; keyHash: Uint8Array; outlivedMs: bigint }>()(
  (query, p) =>
    query
      .selectFrom('first_answers')
      .select(['operation', 'body_hash', 'status', 'location', 'body'])
      .where('account_id', '=', p.accountId)
      .where('key_hash', '=', p.keyHash)
      .where('created_at_ms', '>', p.outlivedMs),
);

/** Stores the response to a key. Replaces an expired response. */
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
 * Deletes at most `count` responses stored before `beforeMs`, the oldest first. Returns a row for each.
 *
 * The outer condition repeats the age. A concurrent request may replace an expired response before it is deleted.
 * PostgreSQL then checks only the outer condition again.
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
