import type { Authorship } from '../../audit/audit-entry.ts';
import { addAuditEntry } from '../../audit/audit-log.ts';
import { closeOverdueHold } from '../../pets/close-overdue-hold.ts';
import type { Pet } from '../../pets/pet.ts';
import { lockPet } from '../../pets/pet-edit-rows.ts';
import { type Edit, editPet, type Outcome } from '../../pets/pet-edits.ts';
import { toPet } from '../../pets/pet-rows.ts';
import { defineTransaction, type Steps, step } from '../../storage/database.ts';

interface EditByHand extends Edit {
  readonly by: Authorship;
}

/**
 * Changes or deletes an animal and adds an entry to the audit log, in one transaction. If the change or deletion is not
 * possible, returns the reason.
 */
export const editPetByHand = defineTransaction(
  'editPetByHand',
  function* ({ by, ...edit }: EditByHand): Steps<Outcome> {
    // Expire an overdue hold first. The operator does not cause this, so it gets no entry in the audit log.
    yield* closeOverdueHold(edit.id);
    const [row] = yield* step(lockPet, { id: edit.id });
    const outcome = yield* editPet.body(edit);
    if (row === undefined || !('pet' in outcome)) return outcome;
    const isDeleted = edit.change === null;
    const [before, after] = compare(toPet(row), outcome.pet);
    if (isDeleted || Object.keys(after).length > 0)
      yield* addAuditEntry(by, {
        action: isDeleted ? 'pet.deleted' : 'pet.changed',
        subject: String(edit.id),
        accountId: null,
        before: isDeleted ? toFields(outcome.pet) : before,
        after: isDeleted ? null : after,
      });
    return outcome;
  },
  'row locks',
);

type Fields = Partial<Omit<Pet, 'id'>>;

function toFields({ name, categoryId, status }: Pet): Fields {
  return { name, categoryId, status };
}

/** Returns the changed fields with their values before and after. */
function compare(before: Pet, after: Pet): readonly [Fields, Fields] {
  const changed = (['name', 'categoryId', 'status'] as const).filter(
    (field) => before[field] !== after[field],
  );
  const pick = (pet: Pet) => Object.fromEntries(changed.map((field) => [field, pet[field]]));
  return [pick(before), pick(after)];
}
