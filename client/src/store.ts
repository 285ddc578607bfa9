import { attachResponse, readCallOptions, type WithResponse, writeQuery } from './call.ts';
import { operations } from './generated.ts';
import { toInt64 } from './int64.ts';
import type { CallOptions, Transport } from './transport.ts';

/** Number of animals of each status at the time `asOf`. */
export interface Inventory {
  readonly available: bigint;
  readonly pending: bigint;
  readonly sold: bigint;
  readonly asOf: string;
}

export type InventoryAnswer = WithResponse<Inventory>;

export interface InventoryOptions extends CallOptions {
  /** Counts only the animals of this category. */
  readonly categoryId?: bigint | number | undefined;
}

/** The inventory of the store. A method that fails rejects with AnimalStoreError. */
export interface Store {
  /** Returns the number of available, pending and sold animals. */
  inventory(options?: InventoryOptions): Promise<InventoryAnswer>;
}

export function createStore(send: Transport): Store {
  return {
    async inventory(options) {
      const { categoryId, signal } = readCallOptions(options);
      const category = categoryId === undefined ? undefined : toInt64('categoryId', categoryId);
      const path = operations.getInventory.path + writeQuery({ categoryId: category });
      const call = { operation: 'getInventory', path, isExpected: isInventory } as const;
      return attachResponse(await send(call, { signal }));
    },
  };
}

function isInventory(value: unknown): value is Inventory {
  if (typeof value !== 'object' || value === null) return false;
  const { available, pending, sold, asOf } = value as Record<string, unknown>;
  return [available, pending, sold].every((count) => typeof count === 'bigint') && typeof asOf === 'string';
}
