import { type RawBuilder, sql } from 'kysely';
import type { Authorship } from '../audit/audit-log.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import { type Database, type Steps, statement, step, type Value } from '../storage/database.ts';
import { expireHolds, selectOverdueHolds } from './close-overdue-hold.ts';
import { completeNewPet, type NewPet, type PetField, type PetPatch, petColumns, petFields } from './pet.ts';
import { toValues } from './pet-rows.ts';

/** A new animal, or a change of the animal `id`. `line` is the line of the change in the import file. */
export type LoadedPet =
  | (NewPet & { readonly id?: undefined })
  | (PetPatch & { readonly id: bigint; readonly line: number });

/** Options of `loadPets`. */
export interface LoadPetsOptions {
  /** Called after all input is read, before the first write. */
  readonly onWrite?: () => void;
  /** Called for each change that is skipped. Without this callback, such a change throws OperatorError. */
  readonly onBadChange?: OnBadChange;
  /** Called after the last `onBadChange`. If `check` throws, nothing is stored. */
  readonly check?: () => void;
  /** Adds a row to the audit log in the same transaction. */
  readonly audited?: AuditedImport;
  /** Rolls back all changes at the end. */
  readonly isDryRun?: boolean;
}

/** Numbers of added and changed animals. After a dry run, the numbers that a real run would have. */
export interface LoadedCounts {
  readonly added: number;
  readonly changed: number;
}

const columns = [...petFields.map((field) => petColumns[field]), 'is_owned'];

/**
 * Adds and changes animals, all or none. Reads all of `batches` before the first write. Throws the errors of
 * `Database.load`.
 *
 * A change is reported to `onBadChange` and skipped in these cases:
 * - No animal has the id.
 * - An earlier row changes the same animal.
 * - An order owns the animal, and the change sets another status. An overdue hold is closed first, so it owns nothing.
 */
export async function loadPets(
  database: Database,
  batches: AsyncIterable<readonly LoadedPet[]>,
  { onWrite, onBadChange = refuse, check = () => undefined, audited, isDryRun = false }: LoadPetsOptions = {},
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
    changed = yield* changeLoadedPets(onBadChange, check);
    if (audited !== undefined) yield* appendImport(audited, { added, changed });
  }
  await database.load('pets', columns, readRows(), { onWrite, changes: { apply, isDryRun } });
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

/**
 * A row of the table `loaded` (`LoadOptions` in database.ts). A null `id` means a new animal. In a change, a field that
 * is null stays unchanged.
 */
type Loaded = Record<(typeof petColumns)[PetField], Value> & {
  readonly id: bigint | null;
  readonly line: bigint;
  readonly status: string | null;
};

const loaded = sql<Loaded>`loaded`.as('loaded');

/** SQL expression: the reason why a row cannot change its animal. Null if nothing prevents the change. */
const problem = sql<'unknown' | 'repeated' | 'owned' | null>`case
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

/** The expired holds of the animals to be changed. */
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

/** The value of a column after the change. */
const after = (column: string): RawBuilder<never> =>
  sql`coalesce(${sql.ref(`loaded.${column}`)}, ${sql.ref(`pets.${column}`)})`;

/** True if a row changes a value of its animal. */
const differs = sql<boolean>`(${sql.join(
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
    .where(differs)
    .where(sql<boolean>`${problem} is null`),
);

const applyChanges = statement<Record<never, never>>()((query) =>
  query
    .updateTable('pets')
    .from(loaded)
    .set(Object.fromEntries(Object.values(petColumns).map((column) => [column, after(column)])))
    .where(differs)
    .whereRef('pets.id', '=', 'loaded.id')
    .where(sql<boolean>`${problem} is null`),
);

const badRowsMax = 1_000n;

const rules = {
  unknown: 'names no animal',
  repeated: 'is already in an earlier row',
  owned: 'must stay as it is: an order owns this animal, and only the order changes its status',
} as const;

/** Receives a row that cannot change its animal: its line, the invalid field, and the rule that the field breaks. */
export type OnBadChange = (line: number, field: string, rule: string) => void;

/**
 * Part of the transaction of a load. Closes the overdue holds of the animals to be changed. Reports each row that
 * cannot change its animal and calls `check`. Then applies the other changes and returns their number.
 */
function* changeLoadedPets(onBadChange: OnBadChange, check: () => void): Steps<number> {
  // Orders are locked before animals, as in all transactions.
  yield* expireHolds(yield* step(selectOverdueLoaded, {}));
  yield* step(lockChanged, {});
  let afterLine = -1n;
  for (;;) {
    const rows = yield* step(selectBadChanges, { afterLine, count: badRowsMax });
    for (const { line, problem: found } of rows)
      if (found !== null) onBadChange(Number(line), found === 'owned' ? 'status' : 'id', rules[found]);
    const last = rows.at(-1);
    if (last === undefined) break;
    afterLine = last.line;
  }
  check();
  const [changed] = yield* step(countChanges, {});
  yield* step(applyChanges, {});
  return Number(changed?.count ?? 0);
}

/** The data for the audit log about a load, except the numbers of added and changed animals. */
export interface AuditedImport {
  readonly by: Authorship;
  /** The source of the animals, such as a file name. */
  readonly source: string;
  /** Returns the number of refused rows. Called after all rows are checked. */
  readonly countRefused: () => number;
}

/** Part of the transaction of a load. Adds a row about the load to the audit log. */
function* appendImport({ by, source, countRefused }: AuditedImport, counts: LoadedCounts): Steps<void> {
  yield* addAuditEntry(by, {
    action: 'pets.imported',
    subject: source,
    accountId: null,
    before: null,
    after: { ...counts, refused: countRefused() },
  });
}
