import { createBatches } from '../storage/batches.ts';
import type { Database } from '../storage/database.ts';
import { foldChanges } from './inventory-rows.ts';

/** Maximum number of changes that one transaction adds to the totals. */
export const foldedChangesMax = 10_000;
/**
 * Number of an advisory lock: the first 8 letters of "inventory" in ASCII. No other lock of the store has this
 * number.
 */
const foldingLock = 0x696e_7665_6e74_6f72n;

/**
 * Adds all appended changes to the totals, so that reading the inventory sums few rows. Does nothing on SQLite, where
 * triggers update the totals.
 */
export async function foldInventory(
  database: Database,
  runBatches = createBatches(foldedChangesMax),
): Promise<void> {
  if (database.engine === 'sqlite') return;
  await runBatches(async (range) => {
    const [folded] = await database.run(foldChanges, { lock: foldingLock, ...range });
    return folded ?? { taken: 0n, last: null };
  });
}
