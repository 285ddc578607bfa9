import { type Database, defineTransaction, type Steps, step } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import { foldChanges, selectLastChange } from './inventory-rows.ts';

/** Maximum number of changes that one transaction adds to the totals. */
const foldedChangesMax = 10_000;
/**
 * Number of an advisory lock: the first 8 letters of "inventory" in ASCII. No other lock of the store has this
 * number.
 */
const foldingLock = 0x696e_7665_6e74_6f72n;

/**
 * Adds at most `count` changes to the totals, and returns their number. Returns 0 while another instance adds
 * changes.
 */
export const foldInventoryOnce = defineTransaction(
  'foldInventoryOnce',
  function* ({ count }: { readonly count: number }): Steps<number> {
    const [lock] = yield* step(tryLock, { lock: foldingLock });
    if (lock?.is_free !== true) return 0;
    const [oldest] = yield* step(selectLastChange, { count: BigInt(count) });
    if (oldest === undefined || oldest.last === null) return 0;
    const [folded] = yield* step(foldChanges, { last: oldest.last });
    return Number(folded?.changes ?? 0);
  },
  'row locks',
);

/**
 * Adds all appended changes to the totals, so that reading the inventory sums few rows. Does nothing on SQLite, where
 * triggers update the totals.
 */
export async function foldInventory(database: Database): Promise<void> {
  if (database.engine === 'sqlite') return;
  let folded: number;
  do folded = await database.transact(foldInventoryOnce, { count: foldedChangesMax });
  while (folded >= foldedChangesMax);
}
