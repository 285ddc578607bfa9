import type { Operation } from '../../operation.ts';
import { getInventory } from './get-inventory.ts';

/** Contract section 10, the inventory. */
export const storeOperations: readonly Operation[] = [getInventory];
