import { attachResponse, readCallOptions, type WithResponse, writeQuery } from './call.ts';
import { operations } from './generated.ts';
import { toInt64 } from './int64.ts';
import type { CallOptions, Transport } from './transport.ts';

/** How many animals of each status there were at `asOf`. */
export interface Inventory {
  readonly available: bigint;
  readonly pending: bigint;
  readonly sold: bigint;
  readonly asOf: string;
}

/** An inventory with the metadata of its answer. */
export type InventoryAnswer = WithResponse<Inventory>;

export interface InventoryOptions extends CallOptions {
  /** Only the animals of this category. */
  readonly categoryId?: bigint | number | undefined;
}

/** The inventory of the store. All methods reject with AnimalStoreError. */
export interface Store {
  /** How many animals are available, pending and sold. */
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
