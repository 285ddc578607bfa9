import type { Database } from '../storage/database.ts';
import { selectInventory, selectInventoryOf } from './inventory-rows.ts';

/** Number of animals of each status. */
export interface Inventory {
  readonly available: bigint;
  readonly pending: bigint;
  readonly sold: bigint;
  /** The time of the count in Unix milliseconds, by the store's clock. */
  readonly asOfMs: number;
}

/**
 * Counts all animals, or the animals of a category. The cost does not depend on the size of the catalogue. Sees
 * everything committed before the call. Throws as the database does (database.ts).
 */
export type CountInventory = (categoryId: bigint | null) => Promise<Inventory>;

export function createInventory(database: Database): CountInventory {
  return async (categoryId) => {
    const [row] =
      categoryId === null
        ? await database.read(selectInventory, {})
        : await database.read(selectInventoryOf, { categoryId });
    if (row === undefined) throw new Error('the store returned no inventory');
    const { available, pending, sold, as_of_ms } = row;
    return { available, pending, sold, asOfMs: Number(as_of_ms) };
  };
}
