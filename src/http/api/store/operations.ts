import type { Operation } from '../../operation.ts';
import { getInventory } from './get-inventory.ts';

/** The operations on the inventory (contract section 10). */
export const storeOperations: readonly Operation[] = [getInventory];
