import { type RawBuilder, type Selectable, sql } from 'kysely';
import { type PetStatus, petStatuses } from '../pets/pet.ts';
import { countField, namedObject, timeField } from '../schema.ts';
import { byFilters, type Database, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { type Batch, takeOldest } from '../storage/take-oldest.ts';

function ofEachStatus<T>(make: (status: PetStatus) => T): Record<PetStatus, T> {
  return Object.fromEntries(petStatuses.map((status) => [status, make(status)])) as Record<PetStatus, T>;
}

export const InventorySchema = namedObject('Inventory', 'How many animals are in stock.', {
  ...ofEachStatus((status) => countField(`How many animals are ${status}.`)),
  asOf: timeField('When the numbers were counted, by the clock of the store.'),
});

/** Number of animals of each status, and the time of the count in Unix milliseconds, by the store's clock. */
export type Inventory = Readonly<Record<PetStatus, bigint>> & { readonly asOfMs: number };

const sums = petStatuses.map((status) =>
  sql<bigint>`cast(coalesce(sum(${sql.ref(status)}), 0) as bigint)`.as(status),
);

type CountedRow = Readonly<Record<PetStatus | 'as_of_ms', bigint>>;

/** Sums the totals of all animals or of a category and the changes that are not added to them yet, in one row. */
const selectInventory = byFilters(['categoryId'], (query, p: { categoryId: bigint }, set, { nowMs }) => {
  const counts = sql.raw(petStatuses.join());
  const totals = sql.table(set.categoryId ? 'inventory_by_category' : 'inventory_totals');
  const ofCategory = set.categoryId ? sql`where category_id = ${p.categoryId}` : sql``;
  return query
    .selectFrom(
      sql<Record<PetStatus, bigint>>`(select ${counts} from ${totals} ${ofCategory}
          union all select ${counts} from inventory_changes ${ofCategory})`.as('counts'),
    )
    .select([...sums, nowMs.as('as_of_ms')])
    .$castTo<CountedRow>();
});

/** Counts all animals, or those of a category, as of the call. The cost does not depend on the size of the catalogue. */
export type CountInventory = (categoryId: bigint | null) => Promise<Inventory>;

export function createInventory(database: Database): CountInventory {
  return async (categoryId) => {
    const [row] = await database.read(selectInventory, { categoryId });
    if (row === undefined) throw new Error('the store returned no inventory');
    const { as_of_ms, ...counts } = row;
    return { ...counts, asOfMs: Number(as_of_ms) };
  };
}

/** Maximum number of changes that one transaction adds to the totals. */
const foldedChangesMax = 10_000;
/** Number of an advisory lock, which no other lock of the store has: the first 8 letters of "inventory" in ASCII. */
const foldingLock = 0x696e_7665_6e74_6f72n;

/** Sets each count of a table to its sum with that of another row. */
function addCounts(table: string, other: string): Record<PetStatus, RawBuilder<bigint>> {
  return ofEachStatus((status) => sql`${sql.ref(`${table}.${status}`)} + ${sql.ref(`${other}.${status}`)}`);
}

/**
 * Adds the first changes to the totals and returns their number, or no row if there are none or another instance adds
 * changes.
 */
const foldChanges = statement(
  (query, p: Batch, dialect) =>
    query
      .with('taken', () =>
        takeOldest<Selectable<Tables['inventory_changes']>>(
          'inventory_changes',
          ['id', 'category_id', ...petStatuses],
          p,
          dialect,
        ),
      )
      .with('folded', (cte) =>
        cte
          .insertInto('inventory_by_category')
          .columns(['category_id', ...petStatuses])
          .expression(({ selectFrom }) =>
            selectFrom('taken')
              .select(['category_id', ...sums])
              .groupBy('category_id'),
          )
          .onConflict((conflict) =>
            conflict.column('category_id').doUpdateSet(addCounts('inventory_by_category', 'excluded')),
          ),
      )
      .with('total', (cte) =>
        cte.selectFrom('taken').select(({ fn }) => [...sums, fn.countAll<bigint>().as('changes')]),
      )
      .updateTable('inventory_totals')
      .from('total')
      .set(addCounts('inventory_totals', 'total'))
      .where('total.changes', '>', sql.lit(0n))
      .returning('total.changes as count'),
  { isPlannedEachTime: true },
);

/**
 * Adds the appended changes to the totals, `count` in each transaction, so that a count sums few rows. With one writer, triggers
 * update the totals.
 */
export async function foldInventory(database: Database, count = foldedChangesMax): Promise<void> {
  if (database.hasOneWriter) return;
  for (let folded = count; folded === count; ) {
    const [done] = await database.run(foldChanges, { lock: foldingLock, count: BigInt(count) });
    folded = Number(done?.count ?? 0);
  }
}
