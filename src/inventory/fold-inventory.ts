import { type RawBuilder, type Selectable, sql } from 'kysely';
import { type PetStatus, petStatuses } from '../pets/pet.ts';
import { createBatches, takeOldest } from '../storage/batches.ts';
import { type Database, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { sums } from './inventory.ts';

/** Maximum number of changes that one transaction adds to the totals. */
export const foldedChangesMax = 10_000;
/**
 * Number of an advisory lock: the first 8 letters of "inventory" in ASCII. No other lock of the store has this
 * number.
 */
const foldingLock = 0x696e_7665_6e74_6f72n;

/** Sets each count of a table to its sum with that of another row. */
function addCounts(table: string, other: string): Record<PetStatus, RawBuilder<bigint>> {
  const sumOf = (status: PetStatus) =>
    sql<bigint>`${sql.ref(`${table}.${status}`)} + ${sql.ref(`${other}.${status}`)}`;
  return Object.fromEntries(petStatuses.map((status) => [status, sumOf(status)])) as ReturnType<
    typeof addCounts
  >;
}

/**
 * Only for PostgreSQL. Adds the first `count` changes to the totals. Returns no row if there are none or another
 * instance adds changes.
 */
const foldChanges = statement<{ lock: bigint; count: bigint }>({
  isPlannedEachTime: true,
})((query, p, dialect) =>
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
    .returning('total.changes as taken'),
);

/**
 * Adds all appended changes to the totals, so that reading the inventory sums few rows. Does nothing on SQLite, where
 * triggers update the totals.
 */
export async function foldInventory(
  database: Database,
  runBatches = createBatches(foldedChangesMax),
): Promise<void> {
  if (database.engine === 'sqlite') return;
  await runBatches(async (count) => {
    const [folded] = await database.run(foldChanges, { lock: foldingLock, count });
    return folded?.taken ?? 0n;
  });
}
