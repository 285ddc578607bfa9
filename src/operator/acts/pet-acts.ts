import type { Authorship } from '../../audit/audit-entry.ts';
import { addAuditEntry } from '../../audit/audit-log.ts';
import { type Pet, type PetPatch, petFields, pickPetFields } from '../../pets/pet.ts';
import { type Edit, type EditResult, editPet } from '../../pets/pet-edits.ts';
import { defineTransaction, type Steps } from '../../storage/database.ts';

interface EditByHand extends Edit {
  readonly by: Authorship;
}

/**
 * Changes or deletes an animal and adds an entry to the audit log, in one transaction. If the change or deletion is not
 * possible, returns the reason.
 */
export const editPetByHand = defineTransaction(
  'editPetByHand',
  function* ({ by, ...edit }: EditByHand): Steps<EditResult> {
    const result = yield* editPet.body(edit);
    if ('refusal' in result) return result;
    const { before, after } = result;
    const [former, changed] = compare(before, after);
    if (after === null || Object.keys(changed).length > 0)
      yield* addAuditEntry(by, {
        action: after === null ? 'pet.deleted' : 'pet.changed',
        subject: String(edit.id),
        accountId: null,
        before: former,
        after: after === null ? null : changed,
      });
    return result;
  },
  'row locks',
);

/** Returns the changed fields with their values before and after. A deletion changes all fields. */
function compare(before: Pet, after: Pet | null): readonly [PetPatch, PetPatch] {
  const changed = petFields.filter((field) => before[field] !== after?.[field]);
  const pick = (pet: Pet) => pickPetFields(Object.fromEntries(changed.map((field) => [field, pet[field]])));
  return [pick(before), after === null ? {} : pick(after)];
}
