import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/** A page of all animals: the `count` newest of those whose id is at most `newestId`. */
export const selectNewest = statement<{ newestId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('id', '<=', p.newestId)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** The same of one status; the index on status and id makes its cost independent of the catalogue's size. */
export const selectNewestOfStatus = statement<{ status: string; newestId: bigint; count: bigint }>()(
  (query, p) =>
    query
      .selectFrom('pets')
      .select(['id', 'name', 'category_id', 'status'])
      .where('status', '=', p.status)
      .where('id', '<=', p.newestId)
      .orderBy('id', 'desc')
      .limit(p.count),
);

/** A run of all animals, oldest first, of those whose id is above `afterId`: for the export. */
export const selectOldest = statement<{ afterId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('id', '>', p.afterId)
    .orderBy('id', 'asc')
    .limit(p.count),
);

export const selectPet = statement<{ id: bigint }>()((query, p) =>
  query.selectFrom('pets').select(['id', 'name', 'category_id', 'status']).where('id', '=', p.id),
);

export const insertPet = statement<{ name: string; categoryId: bigint; status: string }>()((query, p) =>
  query
    .insertInto('pets')
    .values({ name: p.name, category_id: p.categoryId, status: p.status })
    .returning('id'),
);

export const selectIdempotencyRecord = statement<{ accountId: bigint; key: string }>()((query, p) =>
  query
    .selectFrom('idempotency_records')
    .select(['body_hash', 'pet_id', 'created_at_ms'])
    .where('account_id', '=', p.accountId)
    .where('key', '=', p.key),
);

/** Keeps what a key stood for; a record that has outlived its day gives way. */
export const upsertIdempotencyRecord = statement<{
  accountId: bigint;
  key: string;
  bodyHash: Uint8Array;
  petId: bigint;
  createdAtMs: bigint;
}>()((query, p) =>
  query
    .insertInto('idempotency_records')
    .values({
      account_id: p.accountId,
      key: p.key,
      body_hash: p.bodyHash,
      pet_id: p.petId,
      created_at_ms: p.createdAtMs,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'key']).doUpdateSet((excluded) => ({
        body_hash: excluded.ref('excluded.body_hash'),
        pet_id: excluded.ref('excluded.pet_id'),
        created_at_ms: excluded.ref('excluded.created_at_ms'),
      })),
    ),
);

/** Drops a bounded number of records that are older than `beforeMs`, the oldest first. */
export const deleteOldIdempotencyRecords = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('idempotency_records')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'key'),
        'in',
        selectFrom('idempotency_records')
          .select(['account_id', 'key'])
          .where('created_at_ms', '<', p.beforeMs)
          .orderBy('created_at_ms')
          .limit(p.count)
          .$asTuple('account_id', 'key'),
      ),
    ),
);

/** What there is, in two numbers: the newest id, null for an empty catalogue, and how often animals were edited. */
export const selectStamp = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('pet_edits')
    .select(({ selectFrom }) => [
      'count as edits',
      selectFrom('pets').select('id').orderBy('id', 'desc').limit(sql.lit(1)).as('newest_id'),
    ]),
);
