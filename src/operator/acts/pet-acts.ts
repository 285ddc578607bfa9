import type { Act } from '../../audit/act.ts';
import { appendDeed } from '../../audit/append-deed.ts';
import { closeOverdueHold } from '../../pets/close-overdue-hold.ts';
import type { Pet } from '../../pets/pet.ts';
import { lockPet } from '../../pets/pet-edit-rows.ts';
import { type Edit, editPet, type Outcome } from '../../pets/pet-edits.ts';
import { toPet } from '../../pets/pet-rows.ts';
import { defineWork, step, type Work } from '../../storage/database.ts';

interface EditByHand extends Edit {
  readonly act: Act;
}

/** Changes or deletes an animal and adds a row to the audit log, or returns why it cannot. */
export const editPetByHand = defineWork(
  import.meta.url,
  'editPetByHand',
  function* ({ act, ...edit }: EditByHand): Work<Outcome> {
    // An overdue hold ends first, without a row in the audit log.
    yield* closeOverdueHold(edit.id);
    const [row] = yield* step(lockPet, { id: edit.id });
    const outcome = yield* editPet.body(edit);
    if (row === undefined || !('pet' in outcome)) return outcome;
    const isDeleted = edit.change === null;
    const [before, after] = compare(toPet(row), outcome.pet);
    if (isDeleted || Object.keys(after).length > 0)
      yield* appendDeed(act, {
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

/** The changed fields, before and after. */
function compare(before: Pet, after: Pet): readonly [Fields, Fields] {
  const changed = (['name', 'categoryId', 'status'] as const).filter(
    (field) => before[field] !== after[field],
  );
  const pick = (pet: Pet) => Object.fromEntries(changed.map((field) => [field, pet[field]]));
  return [pick(before), pick(after)];
}
