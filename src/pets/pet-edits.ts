import type { Authorship } from '../audit/audit-log.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import {
  type Database,
  defineTransaction,
  type Steps,
  step,
  stepsTogether,
  toLastStep,
  toStep,
} from '../storage/database.ts';
import { expireHold, selectOverdueHold } from './close-overdue-hold.ts';
import { hasOneTag, type IfMatch, type Pet, type PetPatch, petFields, pickPetFields } from './pet.ts';
import { deletePet, lockPet, toPet, toValues, updatePet } from './pet-rows.ts';

type Refusal = 'not_found' | 'precondition_failed' | 'pet_in_order';

/**
 * The animal as it is now, or as it was before its deletion. A refusal is returned, not thrown, because an error would
 * roll back the closing of an overdue hold.
 */
export type EditResult = { readonly pet: Pet } | { readonly refusal: Refusal };

/** The animal before and after a change. `after` is null for a deletion. */
interface EditedPet {
  readonly before: Pet;
  readonly after: Pet | null;
}

/** A change or deletion of an animal that must have one of the `tags`. */
export interface Edit {
  readonly id: bigint;
  /** Null deletes the animal. */
  readonly patch: PetPatch | null;
  readonly tags: IfMatch;
  /** The operator who edits. Absent for a partner: the audit log records only what operators do to animals. */
  readonly by?: Authorship;
}

/** Changes or deletes an animal, with an audit entry if an operator does so. Returns the refusal if it is not allowed. */
export const editPet = defineTransaction(
  'editPet',
  function* (edit: Edit): Steps<EditResult> {
    const result = yield* editLocked(edit);
    if ('refusal' in result) return result;
    if (edit.by !== undefined) yield* audit(edit.by, edit.id, result);
    return { pet: result.after ?? result.before };
  },
  'row locks',
);

function* editLocked({ id, patch, tags, by }: Edit): Steps<EditedPet | { readonly refusal: Refusal }> {
  const row = yield* lockFreed(id);
  if (row === undefined) return { refusal: 'not_found' };
  const before = toPet(row);
  if (!hasOneTag(before, tags)) return { refusal: 'precondition_failed' };
  if (row.is_owned !== 0n && (patch === null || (patch.status ?? before.status) !== before.status))
    return { refusal: 'pet_in_order' };
  // An audit entry follows the edit of an operator.
  const toWrite = by === undefined ? toLastStep : toStep;
  if (patch === null) {
    yield* stepsTogether(toWrite(deletePet, { id }));
    return { before, after: null };
  }
  const values = toValues(patch);
  if (Object.values(values).every((value) => value === null)) return { before, after: before };
  const [[changed = row]] = yield* stepsTogether(toWrite(updatePet(values), { id, ...values }));
  return { before, after: toPet(changed) };
}

/** Adds an audit entry with the changed fields. A deletion changes all fields, and an edit without a change gets none. */
function* audit(by: Authorship, id: bigint, { before, after }: EditedPet): Steps<void> {
  const changed = petFields.filter((field) => before[field] !== after?.[field]);
  if (changed.length === 0) return;
  const pick = (pet: Pet) => pickPetFields(Object.fromEntries(changed.map((field) => [field, pet[field]])));
  yield* addAuditEntry(by, {
    action: after === null ? 'pet.deleted' : 'pet.changed',
    subject: String(id),
    accountId: null,
    before: pick(before),
    after: after === null ? null : pick(after),
  });
}

/** Locks an animal, after its overdue hold, which comes first in all transactions. Closes that hold. */
function* lockFreed(id: bigint) {
  const [[overdue], [pet]] = yield* stepsTogether(
    toStep(selectOverdueHold, { petId: id }),
    toStep(lockPet, { id }),
  );
  if (overdue === undefined) return pet;
  yield* expireHold(overdue.id, id);
  const [freed] = yield* step(lockPet, { id });
  return freed;
}

/** The message of each refusal. */
export const editMessages: Readonly<Record<Refusal, string>> = {
  not_found: 'petId: there is no animal with this identifier',
  precondition_failed: 'If-Match: the animal has changed; get it again',
  pet_in_order:
    'an order owns this animal: only the order can change its status, and the animal cannot be deleted',
};

/**
 * Changes or deletes an animal. Returns it as it is now, or as it was before its deletion. Throws `not_found`,
 * `precondition_failed` if the animal has none of the `tags`, and `pet_in_order` if an order owns it and the edit deletes
 * it or changes its status.
 */
export async function edit(database: Database, wanted: Edit): Promise<Pet> {
  const result = await database.transact(editPet, wanted);
  if ('refusal' in result) throw new AppError(result.refusal, editMessages[result.refusal]);
  return result.pet;
}
