import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/** What `insertPetOnce` takes: the animal, its record, and the time up to which an older record has been outlived. */
type OnceParameters = {
  /** The key's number among all that may be in use. */
  lock: bigint;
  name: string;
  categoryId: bigint;
  status: string;
  accountId: bigint;
  key: string;
  bodyHash: Uint8Array;
  createdAtMs: bigint;
  outlivedMs: bigint;
};

/**
 * For PostgreSQL: adds an animal and its idempotency record, both or neither, in one statement that is a transaction by
 * itself. `is_free` is false, and nothing is done, while another with the same lock runs; `id` is null where the key
 * has a record that is not outlived, one that was committed after the statement began included.
 */
export const insertPetOnce = statement<OnceParameters>()((query, p) =>
  query
    .with('attempt', (cte) =>
      cte.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(cast(${p.lock} as bigint))`.as('is_free')),
    )
    .with('record', (cte) =>
      cte
        .insertInto('idempotency_records')
        .columns(['account_id', 'key', 'body_hash', 'pet_id', 'created_at_ms'])
        .expression((from) =>
          from
            .selectFrom('attempt')
            .where('is_free', 'is', sql.lit(true))
            .select([
              sql<bigint>`cast(${p.accountId} as bigint)`.as('account_id'),
              sql<string>`cast(${p.key} as text)`.as('key'),
              sql<Uint8Array>`cast(${p.bodyHash} as bytea)`.as('body_hash'),
              sql<bigint>`nextval(pg_get_serial_sequence('pets', 'id'))`.as('pet_id'),
              sql<bigint>`cast(${p.createdAtMs} as bigint)`.as('created_at_ms'),
            ]),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'key'])
            .doUpdateSet((eb) => ({
              body_hash: eb.ref('excluded.body_hash'),
              pet_id: eb.ref('excluded.pet_id'),
              created_at_ms: eb.ref('excluded.created_at_ms'),
            }))
            .where('idempotency_records.created_at_ms', '<=', p.outlivedMs),
        )
        .returning('pet_id'),
    )
    .with('added', (cte) =>
      cte
        .insertInto('pets')
        .columns(['id', 'name', 'category_id', 'status'])
        .expression(
          sql`overriding system value
            select pet_id, cast(${p.name} as text), cast(${p.categoryId} as bigint), cast(${p.status} as text)
            from record`,
        )
        .returning('id'),
    )
    .selectFrom('attempt')
    .select(({ selectFrom }) => ['is_free', selectFrom('added').select('added.id').as('id')]),
);

/** The animal that a key stands for, with the hash of the body that it came in. */
export const selectKeyedPet = statement<{ accountId: bigint; key: string; outlivedMs: bigint }>()(
  (query, p) =>
    query
      .selectFrom('idempotency_records')
      .innerJoin('pets', 'pets.id', 'idempotency_records.pet_id')
      .select(['body_hash', 'pets.id', 'pets.name', 'pets.category_id', 'pets.status'])
      .where('idempotency_records.account_id', '=', p.accountId)
      .where('idempotency_records.key', '=', p.key)
      .where('idempotency_records.created_at_ms', '>', p.outlivedMs),
);
