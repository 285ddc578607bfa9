import { type PetStatus, petStatuses } from '../pets/pet.ts';
import { countField, namedObject, timeField } from '../schema.ts';
import type { Database } from '../storage/database.ts';
import { selectInventory } from './inventory-rows.ts';

const counts = Object.fromEntries(
  petStatuses.map((status) => [status, countField(`How many animals are ${status}.`)]),
) as Record<PetStatus, ReturnType<typeof countField>>;

/** The inventory, as responses show it. */
export const InventorySchema = namedObject('Inventory', 'How many animals are in stock.', {
  ...counts,
  asOf: timeField('When the numbers were counted, by the clock of the store.'),
});

/** Number of animals of each status. */
export interface Inventory extends Readonly<Record<PetStatus, bigint>> {
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
    const [row] = await database.read(selectInventory({ categoryId }), { categoryId });
    if (row === undefined) throw new Error('the store returned no inventory');
    const { available, pending, sold, as_of_ms } = row;
    return { available, pending, sold, asOfMs: Number(as_of_ms) };
  };
}
