import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import { foldChanges } from './inventory-rows.ts';

/** How many changes one transaction adds up. */
export const foldedChangesMax = 10_000;
/** Known by no other lock of the store: "inventory" in ASCII, as far as it fits. */
const foldingLock = 0x696e_7665_6e74_6f72n;

/** Adds up a bounded number of changes and gives how many there were; none while another instance does it. */
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

/** Adds up what changes of animals have appended, so that an inventory has little to sum. On SQLite there is nothing. */
export async function foldInventory(database: Database): Promise<void> {
  if (database.engine === 'sqlite') return;
  let folded: number;
  do folded = await database.transact(foldInventoryOnce, { count: foldedChangesMax });
  while (folded >= foldedChangesMax);
}
