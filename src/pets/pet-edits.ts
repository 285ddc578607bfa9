import { AppError } from '../errors.ts';
import { type Database, defineTransaction, type Steps, step } from '../storage/database.ts';
import { closeOverdueHold } from './close-overdue-hold.ts';
import type { Pet, PetPatch } from './pet.ts';
import {
  type Change,
  deleteExpectedPet,
  deleteFreePet,
  deletePet,
  lockPet,
  toChange,
  toExpected,
  updateExpectedPet,
  updateFreePet,
  updatePet,
} from './pet-edit-rows.ts';
import { type PetRow, selectPet, toPet } from './pet-rows.ts';
import { hasOneTag, type IfMatch } from './pet-tags.ts';

/** Changes and deletes animals. If an animal has an overdue hold, both methods close the hold first. */
export interface PetEdits {
  /**
   * Changes the fields in `patch`. Resolves to the changed animal after the write is durable.
   *
   * Throws
   * - `not_found`,
   * - `precondition_failed` if the animal has none of the `tags`,
   * - `pet_in_order` if the patch changes the status and an order owns the animal.
   */
  change(id: bigint, patch: PetPatch, tags: IfMatch): Promise<Pet>;
  /** Deletes an animal. Throws the errors of `change`, but throws `pet_in_order` whenever an order owns the animal. */
  remove(id: bigint, tags: IfMatch): Promise<void>;
}

type Refusal = 'not_found' | 'precondition_failed' | 'pet_in_order';

/**
 * `pet` is the animal after the change or before the deletion. A refusal is returned, not thrown, because an error
 * would roll back the closing of an overdue hold.
 */
export type Outcome = { readonly pet: Pet } | { readonly refusal: Refusal };

/** A change or deletion of an animal that must have one of the `tags`. */
export interface Edit {
  readonly id: bigint;
  /** Null deletes the animal. */
  readonly change: Change | null;
  readonly tags: IfMatch;
}

/** Changes or deletes an animal. Returns the refusal if this is not allowed. */
export const editPet = defineTransaction(
  'editPet',
  function* ({ id, change, tags }: Edit): Steps<Outcome> {
    yield* closeOverdueHold(id);
    const [row] = yield* step(lockPet, { id });
    if (row === undefined) return { refusal: 'not_found' };
    const pet = toPet(row);
    if (!hasOneTag(pet, tags)) return { refusal: 'precondition_failed' };
    if (row.is_owned !== 0n && (change === null || (change.status ?? pet.status) !== pet.status))
      return { refusal: 'pet_in_order' };
    const [edited] =
      change === null ? yield* step(deletePet, { id }) : yield* step(updatePet(change), change);
    return { pet: toPet(edited ?? row) };
  },
  'row locks',
);

/**
 * Handles the usual case with one write statement: the animal exists, has one of the tags, and no order owns it.
 * Returns null if nothing was written.
 *
 * If there are tags, reads the animal first. The write takes effect only if the animal has not changed since.
 */
async function editFreePet(database: Database, { id, change, tags }: Edit): Promise<Outcome | null> {
  const [row] =
    tags === null ? await editUnread(database, id, change) : await editRead(database, id, change, tags);
  return row === undefined ? null : { pet: toPet(row) };
}

async function editUnread(database: Database, id: bigint, change: Change | null): Promise<readonly PetRow[]> {
  return change === null ? database.run(deleteFreePet, { id }) : database.run(updateFreePet(change), change);
}

async function editRead(
  database: Database,
  id: bigint,
  change: Change | null,
  tags: IfMatch,
): Promise<readonly PetRow[]> {
  const [row] = await database.read(selectPet, { id });
  if (row === undefined || !hasOneTag(toPet(row), tags)) return [];
  const expected = toExpected(toPet(row));
  return change === null
    ? database.run(deleteExpectedPet, expected)
    : database.run(updateExpectedPet(change), { ...expected, ...change });
}

const messages: Readonly<Record<Refusal, string>> = {
  not_found: 'petId: there is no animal with this identifier',
  precondition_failed: 'If-Match: the animal has changed; get it again',
  pet_in_order:
    'an order owns this animal: only the order can change its status, and the animal cannot be deleted',
};

/** Returns the error for a refused edit. */
export function refusePetEdit(refusal: Refusal): AppError {
  return new AppError(refusal, messages[refusal]);
}

/** Creates the edits of a store. */
export function createPetEdits(database: Database): PetEdits {
  async function edit(request: Edit): Promise<Pet> {
    const outcome = (await editFreePet(database, request)) ?? (await database.transact(editPet, request));
    if ('pet' in outcome) return outcome.pet;
    throw refusePetEdit(outcome.refusal);
  }

  return {
    change: (id, patch, tags) => edit({ id, change: toChange(id, patch), tags }),
    async remove(id, tags) {
      await edit({ id, change: null, tags });
    },
  };
}
