import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import { foldChanges } from './inventory-rows.ts';

/** How many changes one transaction sums up. */
export const foldedChangesMax = 10_000;
/**
 * The number of an advisory lock that no other lock of the store uses: the first 8 letters of "inventory" in ASCII.
 */
const foldingLock = 0x696e_7665_6e74_6f72n;

/** Adds at most `count` changes to the totals. Returns how many there were; 0 while another instance does it. */
export const foldInventoryOnce = defineWork(
  import.meta.url,
  'foldInventoryOnce',
  function* ({ count }: { readonly count: number }): Work<number> {
    const [lock] = yield* step(tryLock, { lock: foldingLock });
    if (lock?.is_free !== true) return 0;
    const [folded] = yield* step(foldChanges, { count: BigInt(count) });
    return Number(folded?.changes ?? 0);
  },
  'row locks',
);

/**
 * Adds all appended changes to the totals, so that an inventory sums few rows. Does nothing on SQLite, which updates
 * totals at once.
 */
export async function foldInventory(database: Database): Promise<void> {
  if (database.engine === 'sqlite') return;
  let folded: number;
  do folded = await database.transact(foldInventoryOnce, { count: foldedChangesMax });
  while (folded >= foldedChangesMax);
}
