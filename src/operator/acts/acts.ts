import type { Actor, Authorship } from '../../audit/audit-entry.ts';
import { putCategory, removeCategory } from '../../categories/categories.ts';
import type { Category } from '../../categories/category.ts';
import type { Clock } from '../../clock.ts';
import type { OrderAction } from '../../orders/close-order.ts';
import { type Order, toOrder } from '../../orders/order.ts';
import type { OrderReader } from '../../orders/orders.ts';
import type { IfMatch, Pet, PetPatch } from '../../pets/pet.ts';
import { type Edit, requireEdited } from '../../pets/pet-edits.ts';
import type { Database } from '../../storage/database.ts';
import { closeOrderByHand } from './order-acts.ts';
import { editPetByHand } from './pet-acts.ts';

/** A reader that may read the orders of all accounts. */
export const everyAccount: OrderReader = { accountId: 0n, isManager: true };

/**
 * The changes that an operator makes to animals, categories and orders. A change, its events and its entry in the audit
 * log are one transaction. The methods throw the same errors as the HTTP operations.
 */
export interface Acts {
  changePet(id: bigint, patch: PetPatch, tags: IfMatch): Promise<Pet>;
  deletePet(id: bigint): Promise<void>;
  putCategory(category: Category): Promise<{ readonly isNew: boolean }>;
  deleteCategory(id: bigint): Promise<void>;
  /** Idempotent. A repeated call adds no entry to the audit log. */
  closeOrder(action: Exclude<OrderAction, 'complete'>, id: bigint): Promise<Order>;
}

export function createActs({ database }: { readonly database: Database }, clock: Clock, actor: Actor): Acts {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  async function edit(request: Edit): Promise<Pet> {
    const { before, after } = requireEdited(
      await database.transact(editPetByHand, { ...request, by: byNow() }),
    );
    return after ?? before;
  }

  return {
    changePet: (id, patch, tags) => edit({ id, patch, tags }),
    async deletePet(id) {
      await edit({ id, patch: null, tags: null });
    },
    putCategory: ({ id, name }) => database.transact(putCategory, { id, name, by: byNow() }),
    deleteCategory: (id) => database.transact(removeCategory, { id, by: byNow() }),
    async closeOrder(action, id) {
      const { row } = await database.transact(closeOrderByHand, { action, id, by: byNow() });
      return toOrder(row, true);
    },
  };
}
