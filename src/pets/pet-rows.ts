import { sql } from 'kysely';
import { insertion, statement } from '../storage/database.ts';
import type { Pet, PetStatus } from './pet.ts';

/** A page of all animals: the `count` newest of those whose id is at most `newestId`. */
export const selectNewest = statement<{ newestId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('id', '<=', p.newestId)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** The same of one status, along an index that makes the cost independent of the catalogue's size. */
export const selectNewestOf: Readonly<Record<PetStatus, typeof selectNewest>> = {
  available: selectNewestOfStatus('available'),
  pending: selectNewestOfStatus('pending'),
  sold: selectNewestOfStatus('sold'),
};

/** The status stands in the text, so that PostgreSQL knows which index holds just these animals. */
function selectNewestOfStatus(status: PetStatus): typeof selectNewest {
  return statement<{ newestId: bigint; count: bigint }>()((query, p) =>
    query
      .selectFrom('pets')
      .select(['id', 'name', 'category_id', 'status'])
      .where('status', '=', sql.lit(status))
      .where('id', '<=', p.newestId)
      .orderBy('id', 'desc')
      .limit(p.count),
  );
}

/** A run of all animals, oldest first, of those whose id is above `afterId`: for the export. */
export const selectOldest = statement<{ afterId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('id', '>', p.afterId)
    .orderBy('id', 'asc')
    .limit(p.count),
);

/** The animal of an id, in one row or none. */
export const selectPet = statement<{ id: bigint }>()((query, p) =>
  query.selectFrom('pets').select(['id', 'name', 'category_id', 'status']).where('id', '=', p.id),
);

/** Adds an animal and gives the id that it was assigned, which grows and is never used again. */
export const insertPet = insertion<{ name: string; categoryId: bigint; status: string }>()((query, rows) =>
  query
    .insertInto('pets')
    .values(rows.map((p) => ({ name: p.name, category_id: p.categoryId, status: p.status })))
    .returning('id'),
);

/** What an account's Idempotency-Key stood for, in one row or none; it may have outlived its day. */
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

/**
 * Drops a bounded number of records that are older than `beforeMs`, the oldest first; gives a row for each. The age is
 * asked for twice: a record that was found may be renewed before it is dropped, and PostgreSQL then only asks again what
 * stands outside.
 */
export const deleteOldIdempotencyRecords = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('idempotency_records')
    .where('created_at_ms', '<', p.beforeMs)
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
    )
    .returning('key'),
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

/** An animal as its row holds it. */
export interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: string;
}

/** An animal as its row holds it, its fields in the documented order. */
export function toPet({ id, name, category_id, status }: PetRow): Pet {
  return { id, name, categoryId: category_id, status: status as PetStatus };
}

/** The id that the store has given to a new animal. */
export function insertedId(rows: readonly { id: bigint }[]): bigint {
  const [row] = rows;
  if (row === undefined) throw new Error('the store gave no id for a new animal');
  return row.id;
}
