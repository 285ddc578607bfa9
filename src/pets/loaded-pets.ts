import { type RawBuilder, type Selectable, sql } from 'kysely';
import { expireHolds, hasOverdueHold, selectOverdueHolds } from '../orders/overdue-holds.ts';
import { type Steps, statement, step, together, type Value } from '../storage/database.ts';
import type { Dialect } from '../storage/dialect.ts';
import type { Tables } from '../storage/tables.ts';
import { type PetField, petColumns } from './pet.ts';

/** Changes that are skipped: their number, and the first 1,000 by line, each with the field and the rule that it breaks. */
export interface BadChanges {
  readonly count: number;
  readonly first: readonly { readonly line: number; readonly field: string; readonly rule: string }[];
}

const firstMax = 1_000;

/** For each reason why a row cannot change its animal: the field, and the rule that it breaks. */
const problems = {
  unknown: ['id', 'names no animal'],
  repeated: ['id', 'is already in an earlier row'],
  owned: ['status', 'must stay as it is: an order owns this animal, and only the order changes its status'],
} as const;

/** A row of the table `loaded` (database.ts). A null `id` means a new animal, a null field of a change no change. */
type Loaded = Record<(typeof petColumns)[PetField], Value> & {
  readonly id: bigint | null;
  readonly line: bigint;
  readonly status: string | null;
  readonly problem: keyof typeof problems | null;
};

const loaded = sql<Loaded>`loaded`.as('loaded');

type None = Record<never, never>;

const markRepeated = statement((query) =>
  query
    .updateTable(loaded)
    .set({ problem: sql.lit('repeated') })
    .from(
      sql<{ id: bigint; line: bigint }>`(select id, min(line) as line from loaded
        where id is not null group by id having count(*) > 1)`.as('earliest'),
    )
    .whereRef('loaded.id', '=', 'earliest.id')
    .whereRef('loaded.line', '>', 'earliest.line'),
);

const markUnknown = statement((query) =>
  query
    .updateTable(loaded)
    .set({ problem: sql.lit('unknown') })
    .where('loaded.id', 'is not', null)
    .where(sql<boolean>`not exists (select 1 from pets where pets.id = loaded.id)`),
);

type Animal = Pick<Selectable<Tables['pets']>, 'id' | 'is_owned' | (typeof petColumns)[PetField]>;

/** The animals as they are once their overdue holds are closed, which are still open before the lock. */
function selectFreed({ nowMs }: Dialect) {
  const isFreed = sql`pets.is_owned = 1 and ${hasOverdueHold(nowMs)}`;
  const { status, ...others } = petColumns;
  return sql<Animal>`(select id, ${sql.join(Object.values(others).map((column) => sql.ref(column)))},
    case when ${isFreed} then 'available' else ${sql.ref(status)} end as status,
    case when ${isFreed} then 0 else is_owned end as is_owned from pets)`.as('pets');
}

/** The animals as they are. Under the lock, a hold that ends only now still owns its animal. */
const selectLocked = () => sql<Animal>`pets`.as('pets');

const marksOwned = (animals: typeof selectFreed) =>
  statement((query, _, dialect) =>
    query
      .updateTable(loaded)
      .set({ problem: sql.lit('owned') })
      .from(animals(dialect))
      .whereRef('pets.id', '=', 'loaded.id')
      .where('loaded.problem', 'is', null)
      .where('pets.is_owned', '=', sql<bigint>`1`)
      .whereRef('loaded.status', '<>', 'pets.status'),
  );

const countBad = statement((query) =>
  query.selectFrom(loaded).select(sql<bigint>`count(*)`.as('count')).where('problem', 'is not', null),
);

const selectFirstBad = statement((query) =>
  query
    .selectFrom(loaded)
    .select(['line', 'problem'])
    .where('problem', 'is not', null)
    .orderBy('line')
    .limit(sql.lit(firstMax)),
);

const deleteBad = statement((query) => query.deleteFrom(loaded).where('problem', 'is not', null));

const after = (column: string): RawBuilder<never> =>
  sql`coalesce(${sql.ref(`loaded.${column}`)}, ${sql.ref(`pets.${column}`)})`;

/** True if a row changes a value of its animal. */
const isEffective = sql<boolean>`(${sql.join(
  Object.values(petColumns).map(
    (column) => sql`${after(column)} is distinct from ${sql.ref(`pets.${column}`)}`,
  ),
  sql` or `,
)})`;

const countsChanges = (animals: typeof selectFreed) =>
  statement((query, _, dialect) =>
    query
      .selectFrom(loaded)
      .innerJoin(animals(dialect), 'pets.id', 'loaded.id')
      .select(sql<bigint>`count(*)`.as('count'))
      .where(isEffective),
  );

const applyChanges = statement((query) =>
  query
    .updateTable('pets')
    .from(loaded)
    .set(Object.fromEntries(Object.values(petColumns).map((column) => [column, after(column)])))
    .whereRef('pets.id', '=', 'loaded.id')
    .where(isEffective),
);

const selectOverdueLoaded = selectOverdueHolds<None>(
  'lockRows',
  () => sql`pets.id in (select id from loaded)`,
);

/** Locks the animals to be changed until the transaction ends. */
const lockChanged = statement((query, _, { lockRows }) => {
  const locked = query
    .selectFrom('pets')
    .select('id')
    .where('id', 'in', sql<bigint>`(select id from loaded)`);
  return query.selectFrom(locked.modifyEnd(lockRows).as('locked')).select(sql<bigint>`count(*)`.as('count'));
});

const markOwnedAt = { check: marksOwned(selectFreed), write: marksOwned(selectLocked) };
const countChangesAt = { check: countsChanges(selectFreed), write: countsChanges(selectLocked) };

/** Takes bad changes out of `loaded`, and reports them. The work grows only with the number of rows. */
function* refuseBad(at: 'check' | 'write', onBadChanges: (bad: BadChanges) => void): Steps<void> {
  yield* step(markUnknown, {});
  yield* step(markOwnedAt[at], {});
  const [[counted], rows] = yield* together(step(countBad, {}), step(selectFirstBad, {}));
  if (rows.length === 0) return;
  yield* step(deleteBad, {});
  const first = rows.map(({ line, problem }) => {
    const [field, rule] = problems[problem as keyof typeof problems];
    return { line: Number(line), field, rule };
  });
  onBadChanges({ count: Number(counted?.count), first });
}

function* countChanges(at: 'check' | 'write'): Steps<number> {
  const [counted] = yield* step(countChangesAt[at], {});
  return Number(counted?.count);
}

/**
 * Reports the changes to skip and takes them out of `loaded`. Locks nothing. Returns the number of changes that would
 * be made.
 */
export function* checkLoaded(onBadChanges: (bad: BadChanges) => void): Steps<number> {
  yield* step(markRepeated, {});
  yield* refuseBad('check', onBadChanges);
  return yield* countChanges('check');
}

/**
 * Closes the overdue holds of the animals to be changed, and makes the changes of `loaded`. Reports and skips those that
 * have become bad since the check, because their animals were deleted or ordered. Returns the number of changes. The trigger
 * `pets_updated` records their events, and then `pets_added` those of the new animals (`updatePet`, `insertPet`).
 */
export function* changeLoaded(onBadChanges: (bad: BadChanges) => void): Steps<number> {
  // Orders are locked before animals, as in all transactions.
  yield* expireHolds(yield* step(selectOverdueLoaded, {}));
  yield* step(lockChanged, {});
  yield* refuseBad('write', onBadChanges);
  const changed = yield* countChanges('write');
  yield* step(applyChanges, {});
  return changed;
}
