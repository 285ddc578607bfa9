import { sql } from 'kysely';
import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { type Steps, statement, step } from '../storage/database.ts';
import { closeOverdueHolds, selectOverdueHolds } from './close-overdue-hold.ts';

/**
 * A row of the table `loaded` (`LoadOptions` in database.ts). A null `id` means a new animal. In a change, a field that
 * is null stays unchanged.
 */
interface Loaded {
  readonly id: bigint | null;
  readonly line: bigint;
  readonly name: string | null;
  readonly category_id: bigint | null;
  readonly status: string | null;
}

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

/** Selects the overdue holds of the animals to be changed. */
const selectOverdueLoaded = selectOverdueHolds<Record<never, never>>((overdue) =>
  overdue.where('pet_id', 'in', sql<bigint>`(select id from loaded)`),
);

/** Locks the animals to be changed until the transaction ends. SQLite needs no lock, because it has only one writer. */
const lockChanged = statement<Record<never, never>>()((query, _, { engine }) => {
  const changed = query.selectFrom('pets').innerJoin(loaded, 'loaded.id', 'pets.id').select('pets.id');
  const locked = engine === 'postgres' ? changed.forUpdate('pets') : changed;
  return query.selectFrom(locked.as('locked')).select(sql<bigint>`count(*)`.as('count'));
});

const countChanges = statement<Record<never, never>>()((query) =>
  query
    .selectFrom(loaded)
    .innerJoin('pets', 'pets.id', 'loaded.id')
    .select(sql<bigint>`count(*)`.as('count'))
    .where(sql<boolean>`${problem} is null`),
);

const countAdditions = statement<Record<never, never>>()((query) =>
  query.selectFrom(loaded).select(sql<bigint>`count(*)`.as('count')).where('loaded.id', 'is', null),
);

const applyChanges = statement<Record<never, never>>()((query) =>
  query
    .updateTable('pets')
    .from(loaded)
    .set({
      name: sql<string>`coalesce(loaded.name, pets.name)`,
      category_id: sql<bigint>`coalesce(loaded.category_id, pets.category_id)`,
      status: sql<string>`coalesce(loaded.status, pets.status)`,
    })
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
export function* changeLoadedPets(onBadChange: OnBadChange, check: () => void): Steps<number> {
  // Orders are locked before animals, as in all transactions.
  yield* closeOverdueHolds(selectOverdueLoaded, {});
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
export function* appendImport({ by, source, countRefused }: AuditedImport, changed: number): Steps<void> {
  const [added] = yield* step(countAdditions, {});
  yield* addAuditEntry(by, {
    action: 'pets.imported',
    subject: source,
    accountId: null,
    before: null,
    after: { added: Number(added?.count ?? 0), changed, refused: countRefused() },
  });
}
