import { type RawBuilder, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { type Database, type Steps, statement, type Value } from '../storage/database.ts';
import { step } from '../storage/transaction.ts';
import { expireHolds, selectOverdueHolds } from './overdue-holds.ts';
import { type NewPet, type PetField, type PetPatch, petColumns, petFields } from './pet.ts';
import { toValues } from './pet-rows.ts';
import { completeNewPet } from './pet-values.ts';

/** A new animal, or a change of the animal `id`. `line` is the line of the change in the import file. */
export type LoadedPet =
  | (NewPet & { readonly id?: undefined })
  | (PetPatch & { readonly id: bigint; readonly line: number });

/** Numbers of added and changed animals. After a dry run, the numbers that a real run would have. */
export interface LoadedCounts {
  readonly added: number;
  readonly changed: number;
}

/** Gets a change that is skipped: the field that is invalid, and the rule that it breaks. */
type OnBadChange = (line: number, field: string, rule: string) => void;

/** Options of `loadPets`. */
export interface LoadPetsOptions {
  /** Called after all input is read, before the first write. */
  readonly onWrite?: () => void;
  /** Without it, a change that would be skipped throws OperatorError. */
  readonly onBadChange?: OnBadChange;
  /** The end of the transaction. If it throws, nothing is stored. */
  readonly finish?: (counts: LoadedCounts) => Steps<void>;
  readonly isDryRun?: boolean;
}

const columns = [...petFields.map((field) => petColumns[field]), 'is_owned'];

/**
 * Adds and changes animals, all or none. Reads all of `batches` before the first write. A change is skipped if no animal
 * has the id, if an earlier row changes the same animal, or if an order owns the animal and the change sets another
 * status. Overdue holds are closed first, so they own nothing. Throws the errors of `Database.load`.
 */
export async function loadPets(
  database: Database,
  batches: AsyncIterable<readonly LoadedPet[]>,
  { onWrite, onBadChange = refuse, finish, isDryRun = false }: LoadPetsOptions = {},
): Promise<LoadedCounts> {
  let added = 0;
  let changed = 0;
  async function* readRows() {
    for await (const pets of batches) {
      added += pets.filter(({ id }) => id === undefined).length;
      yield pets.map(toRow);
    }
  }
  function* apply() {
    changed = yield* changeLoadedPets(onBadChange);
    if (finish !== undefined) yield* finish({ added, changed });
  }
  await database.load('pets', columns, readRows(), { onWrite, apply, isDryRun });
  return { added, changed };
}

function refuse(line: number, field: string, rule: string): void {
  throw new OperatorError(`line ${line}: ${field} ${rule}`);
}

/** The values of `columns`, then the id of the animal to change and the line, which are null for a new animal. */
function toRow(pet: LoadedPet): readonly Value[] {
  const values = toValues(pet.id === undefined ? completeNewPet(pet) : pet);
  const change = pet.id === undefined ? [null, null] : [pet.id, BigInt(pet.line)];
  return [...petFields.map((field) => values[field]), 0n, ...change];
}

/** A row of the table `loaded` (database.ts). A null `id` means a new animal, a null field of a change no change. */
type Loaded = Record<(typeof petColumns)[PetField], Value> & {
  readonly id: bigint | null;
  readonly line: bigint;
  readonly status: string | null;
};

const loaded = sql<Loaded>`loaded`.as('loaded');

/** For each reason why a row cannot change its animal: the field, and the rule that it breaks. */
const problems = {
  unknown: ['id', 'names no animal'],
  repeated: ['id', 'is already in an earlier row'],
  owned: ['status', 'must stay as it is: an order owns this animal, and only the order changes its status'],
} as const;

/** SQL expression: one of `problems`, or null. */
const problem = sql<keyof typeof problems>`case
  when pets.id is null then 'unknown'
  when exists (select 1 from loaded as earlier where earlier.id = loaded.id and earlier.line < loaded.line) then 'repeated'
  when pets.is_owned = 1 and loaded.status <> pets.status then 'owned' end`;

/** Selects the first `count` rows after line `afterLine` that cannot change their animals, sorted by line. */
const selectBadChanges = statement<{ afterLine: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom(loaded)
    .leftJoin('pets', 'pets.id', 'loaded.id')
    .select(['loaded.line', problem.as('problem')])
    .where('loaded.id', 'is not', null)
    .where('loaded.line', '>', p.afterLine)
    .where(sql<boolean>`${problem} is not null`)
    .orderBy('loaded.line')
    .limit(p.count),
);

const selectOverdueLoaded = selectOverdueHolds<Record<never, never>>(
  'lockRows',
  () => sql`orders.pet_id in (select id from loaded)`,
);

/** Locks the animals to be changed until the transaction ends. */
const lockChanged = statement<Record<never, never>>()((query, _, { lockRows }) => {
  const locked = query
    .selectFrom('pets')
    .select('id')
    .where('id', 'in', sql<bigint>`(select id from loaded)`);
  return query.selectFrom(locked.modifyEnd(lockRows).as('locked')).select(sql<bigint>`count(*)`.as('count'));
});

const after = (column: string): RawBuilder<never> =>
  sql`coalesce(${sql.ref(`loaded.${column}`)}, ${sql.ref(`pets.${column}`)})`;

/** True if a row may change its animal, and changes a value. */
const isEffective = sql<boolean>`${problem} is null and (${sql.join(
  Object.values(petColumns).map(
    (column) => sql`${after(column)} is distinct from ${sql.ref(`pets.${column}`)}`,
  ),
  sql` or `,
)})`;

const countChanges = statement<Record<never, never>>()((query) =>
  query
    .selectFrom(loaded)
    .innerJoin('pets', 'pets.id', 'loaded.id')
    .select(sql<bigint>`count(*)`.as('count'))
    .where(isEffective),
);

const applyChanges = statement<Record<never, never>>()((query) =>
  query
    .updateTable('pets')
    .from(loaded)
    .set(Object.fromEntries(Object.values(petColumns).map((column) => [column, after(column)])))
    .whereRef('pets.id', '=', 'loaded.id')
    .where(isEffective),
);

const badRowsMax = 1_000n;

/** Closes the overdue holds of the animals to be changed, reports the changes to skip, and applies and counts the others. */
function* changeLoadedPets(onBadChange: OnBadChange): Steps<number> {
  // Orders are locked before animals, as in all transactions.
  yield* expireHolds(yield* step(selectOverdueLoaded, {}));
  yield* step(lockChanged, {});
  let afterLine = -1n;
  for (;;) {
    const rows = yield* step(selectBadChanges, { afterLine, count: badRowsMax });
    for (const { line, problem: found } of rows) {
      const [field, rule] = problems[found];
      onBadChange(Number(line), field, rule);
      afterLine = line;
    }
    if (rows.length === 0) break;
  }
  const [changed] = yield* step(countChanges, {});
  yield* step(applyChanges, {});
  return Number(changed?.count ?? 0);
}
