import { sql } from 'kysely';
import { sharingStatement } from '../storage/database.ts';

type OnceParameters = {
  /** Number of the advisory lock of the idempotency key. */
  lock: bigint;
  name: string;
  categoryId: bigint;
  status: string;
  accountId: bigint;
  keyHash: Uint8Array;
  operation: string;
  bodyHash: Uint8Array;
  /**
   * The `Location` and the body of the response without the new id. The id follows `locationStart`, and stands between
   * `bodyStart` and `bodyEnd`.
   */
  locationStart: string;
  bodyStart: string;
  bodyEnd: string;
  createdAtMs: bigint;
  /** A first answer that was created at or before this time has expired. Unix milliseconds. */
  expiredBeforeMs: bigint;
};

const newId = sql`nextval(pg_get_serial_sequence('pets', 'id'))`;

/**
 * For PostgreSQL. Adds an animal and stores the first answer of its idempotency key. This is one statement, so both are
 * stored or neither.
 *
 * The statement returns one row:
 * - `is_free` is false if another transaction holds the advisory lock of the key. Nothing is stored then.
 * - `id` is the id of the new animal. It is null if nothing was stored: the lock was not free, or the key has an
 *   unexpired first answer. An answer counts even if it was committed after the statement began.
 */
export const insertPetOnce = sharingStatement<OnceParameters>()((query, p) =>
  query
    .with('attempt', (cte) =>
      cte.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(cast(${p.lock} as bigint))`.as('is_free')),
    )
    .with('numbered', (cte) =>
      cte
        .selectFrom('attempt')
        .where('is_free', 'is', sql.lit(true))
        .select(sql<bigint>`${newId}`.as('pet_id')),
    )
    .with('record', (cte) =>
      cte
        .insertInto('first_answers')
        .columns([
          'account_id',
          'key_hash',
          'operation',
          'body_hash',
          'status',
          'location',
          'body',
          'created_at_ms',
        ])
        .expression((from) =>
          from
            .selectFrom('numbered')
            .select([
              sql<bigint>`cast(${p.accountId} as bigint)`.as('account_id'),
              sql<Uint8Array>`cast(${p.keyHash} as bytea)`.as('key_hash'),
              sql<string>`cast(${p.operation} as text)`.as('operation'),
              sql<Uint8Array>`cast(${p.bodyHash} as bytea)`.as('body_hash'),
              sql<bigint>`201`.as('status'),
              sql<string>`cast(${p.locationStart} as text) || pet_id`.as('location'),
              sql<string>`cast(${p.bodyStart} as text) || pet_id || cast(${p.bodyEnd} as text)`.as('body'),
              sql<bigint>`cast(${p.createdAtMs} as bigint)`.as('created_at_ms'),
            ]),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'key_hash'])
            .doUpdateSet((eb) => ({
              operation: eb.ref('excluded.operation'),
              body_hash: eb.ref('excluded.body_hash'),
              status: eb.ref('excluded.status'),
              location: eb.ref('excluded.location'),
              body: eb.ref('excluded.body'),
              created_at_ms: eb.ref('excluded.created_at_ms'),
            }))
            .where('first_answers.created_at_ms', '<=', p.expiredBeforeMs),
        )
        .returning('account_id'),
    )
    .with('added', (cte) =>
      cte
        .insertInto('pets')
        .columns(['id', 'name', 'category_id', 'status', 'is_owned'])
        .expression(
          sql`overriding system value
            select pet_id, cast(${p.name} as text), cast(${p.categoryId} as bigint), cast(${p.status} as text), 0
            from numbered where exists (select from record)`,
        )
        .returning('id'),
    )
    .selectFrom('attempt')
    .select(({ selectFrom }) => ['is_free', selectFrom('added').select('added.id').as('id')]),
);
