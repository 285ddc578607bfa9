import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { putCategory, removeCategory } from '../categories/categories.ts';
import type { Category } from '../categories/category.ts';
import type { Clock } from '../clock.ts';
import { closeOrder, type OrderAction } from '../orders/close-order.ts';
import { type Order, toOrder } from '../orders/order.ts';
import { addPetByHand } from '../pets/catalogue.ts';
import type { IfMatch, NewPet, Pet, PetPatch } from '../pets/pet.ts';
import { editPet, requireEdited } from '../pets/pet-edits.ts';
import type { Database } from '../storage/database.ts';

/**
 * The changes that an operator makes to animals, categories and orders. A change, its events and its entry in the audit
 * log are one transaction. The methods throw the same errors as the HTTP operations.
 */
export interface Changes {
  addPet(newPet: NewPet): Promise<Pet>;
  changePet(id: bigint, patch: PetPatch, tags: IfMatch): Promise<Pet>;
  deletePet(id: bigint): Promise<void>;
  putCategory(category: Category): Promise<{ readonly isNew: boolean }>;
  deleteCategory(id: bigint): Promise<void>;
  /** Idempotent. A repeated call adds no entry to the audit log. */
  closeOrder(action: Exclude<OrderAction, 'complete'>, id: bigint): Promise<Order>;
}

/** Creates the changes that an actor makes. */
export function createChanges(
  { database }: { readonly database: Database },
  clock: Clock,
  actor: Actor,
): Changes {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    addPet: (newPet) => database.transact(addPetByHand, { newPet, by: byNow() }),
    changePet: async (id, patch, tags) =>
      requireEdited(await database.transact(editPet, { id, patch, tags, by: byNow() })),
    async deletePet(id) {
      requireEdited(await database.transact(editPet, { id, patch: null, tags: null, by: byNow() }));
    },
    putCategory: ({ id, name }) => database.transact(putCategory, { id, name, by: byNow() }),
    deleteCategory: (id) => database.transact(removeCategory, { id, by: byNow() }),
    async closeOrder(action, id) {
      const { row } = await database.transact(closeOrder, { action, id, accountId: null, by: byNow() });
      return toOrder(row, true);
    },
  };
}
