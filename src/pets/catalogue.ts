import { type Authored, type Authorship, addAuditEntry } from '../audit/audit-log.ts';
import { AppError, notFound } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, type FirstAnswers, type Given, type Idempotency } from '../idempotency/answer-once.ts';
import { expireHolds, selectOverdueHold } from '../orders/overdue-holds.ts';
import { type Database, lastStep, type Steps, step, together, transaction } from '../storage/database.ts';
import type { Page } from '../storage/read-page.ts';
import { type PageQuery, readPage } from '../storage/read-page.ts';
import { type LoadedCounts, type LoadedPet, type LoadPetsOptions, loadPets } from './load-pets.ts';
import { type NewPet, type Pet, type PetPatch, type PetStatus, petFields } from './pet.ts';
import {
  addPet,
  deletePet,
  insertedId,
  insertPet,
  listNamed,
  lockPet,
  type PetValues,
  selectOldest,
  selectPage,
  selectPet,
  selectPetsByStart,
  toPet,
  toValues,
  updatePet,
} from './pet-rows.ts';
import { completeNewPet, hasOneTag, type IfMatch, pickPetFields } from './pet-values.ts';

const exportBatchRows = 1_000n;

type ListQuery = PageQuery<{ readonly categoryId: bigint }> & {
  /** Null or absent: no filter. */
  readonly status?: PetStatus | null;
  /** 1 to 100 ids. Null or absent: no filter. */
  readonly ids?: readonly bigint[] | null;
};

interface KeyedAdd {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency;
  /** The `Location` of the response without the id at its end. */
  readonly locationStart: string;
}

/** Adds an animal and returns its id. The trigger `pets_added` records the event (`insertPet`). */
export const addOnePet = transaction('addOnePet', 'new rows', function* (values: PetValues) {
  return insertedId(yield* lastStep(insertPet, values));
});

/** Like `addOnePet`, but stores the response as the first answer of the idempotency key. */
export const addPetOnce = transaction(
  'addPetOnce',
  'new rows',
  ({ newPet, idempotency, locationStart }: KeyedAdd) =>
    answerOnce(idempotency, function* () {
      const pet = completeNewPet(newPet);
      const id = yield* addPet(pet);
      return { status: 201, location: `${locationStart}${id}`, body: stringifyExactJson({ id, ...pet }) };
    }),
);

type AuditedAdd = Authored & { readonly newPet: NewPet };

/** Like `addOnePet`, but for an operator, with an audit entry. */
export const addPetByHand = transaction('addPetByHand', 'row locks', function* ({ newPet, by }: AuditedAdd) {
  const pet = completeNewPet(newPet);
  const id = yield* addPet(pet);
  yield* addAuditEntry(by, 'pet.added', String(id), { after: { ...pet } });
  return { id, ...pet };
});

/** The message of each refusal of an edit. */
export const editMessages = {
  not_found: notFound('petId', 'animal').message,
  precondition_failed: 'If-Match: the animal has changed; get it again',
  pet_in_order:
    'an order owns this animal: only the order can change its status, and the animal cannot be deleted',
} as const;

type Refusal = keyof typeof editMessages;

interface Edit {
  readonly id: bigint;
  /** Null deletes the animal. */
  readonly patch: PetPatch | null;
  /** The ETags of this animal that `If-Match` names. */
  readonly tags: IfMatch;
  /** The operator who edits. Absent for a partner: the audit log records only what operators do to animals. */
  readonly by?: Authorship;
}

/**
 * Closes an overdue hold of an animal, then changes or deletes the animal and returns it, a deleted one as it was. A
 * refusal is returned, not thrown, because an error would roll back the closing of the hold.
 *
 * If a value changes, triggers record the event and count the animal (`updatePet`, `deletePet`). With the event, the version of all animals
 * changes, so nobody gets a cached answer from before (`storage/content-version.ts`). An edit that first closes a hold writes
 * two more events, one of the animal and one of the order (`expireHolds`).
 */
export const editPet = transaction('editPet', 'row locks', function* ({ id, patch, tags, by }: Edit): Steps<
  Pet | Refusal
> {
  const row = yield* lockFreed(id);
  if (row === undefined) return 'not_found';
  const before = toPet(row);
  if (!hasOneTag(before, tags)) return 'precondition_failed';
  if (row.is_owned !== 0n && (patch === null || (patch.status ?? before.status) !== before.status))
    return 'pet_in_order';
  const named = listNamed(patch ?? {});
  if (patch !== null && named.length === 0) return before;
  // An audit entry follows the edit of an operator.
  const write = by === undefined ? lastStep : step;
  const [written = row] = yield* patch === null
    ? write(deletePet, { id })
    : write(updatePet(named), { id, ...toValues(patch) });
  const pet = toPet(written);
  if (by !== undefined) yield* audit(by, before, patch === null ? null : pet);
  return pet;
});

/** A deletion changes all fields, and an edit without a change gets no entry. */
function* audit(by: Authorship, before: Pet, after: Pet | null): Steps<void> {
  const changed = petFields.filter((field) => before[field] !== after?.[field]);
  if (changed.length === 0) return;
  const pick = (pet: Pet) => pickPetFields(Object.fromEntries(changed.map((field) => [field, pet[field]])));
  const action = after === null ? 'pet.deleted' : 'pet.changed';
  const details = { before: pick(before), after: after === null ? null : pick(after) };
  yield* addAuditEntry(by, action, String(before.id), details);
}

/** Locks an animal, after its overdue hold, which comes first in all transactions. Closes that hold. */
function* lockFreed(id: bigint) {
  const [holds, [pet]] = yield* together(step(selectOverdueHold, { petId: id }), step(lockPet, { id }));
  if ((yield* expireHolds(holds)) === 0) return pet;
  const [freed] = yield* step(lockPet, { id });
  return freed;
}

/**
 * Runs `editPet`. Throws `not_found`, `precondition_failed` if the animal has none of the `tags`, and `pet_in_order` if
 * an order owns it and the edit deletes it or changes its status.
 */
export async function edit(database: Database, wanted: Edit, accountId?: bigint): Promise<Pet> {
  const result = await database.transact(editPet, wanted, accountId);
  if (typeof result === 'string') throw new AppError(result, editMessages[result]);
  return result;
}

/** The animals of a store. */
export type Catalogue = ReturnType<typeof createCatalogue>;

/**
 * Creates the catalogue of a store. A write is on behalf of an account, or of nobody (`Database.transact`), and resolves when
 * it is durable. Methods throw the errors of the database.
 */
export function createCatalogue(database: Database, firstAnswers: FirstAnswers) {
  return {
    /** Returns a page of animals, newest first. Deep pages cost as much as the first page. */
    list: ({ status, ids, ...query }: ListQuery): Promise<Page<Pet>> =>
      readPage(database, selectPage(status), { ...query, ids: ids ? `[${ids.join()}]` : null }, toPet),

    /** Returns null if the animal does not exist. */
    async get(id: bigint): Promise<Pet | null> {
      const [row] = await database.read(selectPet, { id });
      return row === undefined ? null : toPet(row);
    },

    /** Returns at most `count` animals whose names begin with `start`, in any case, newest first. */
    async listByStart(start: string, count: number): Promise<Pet[]> {
      return (await database.read(selectPetsByStart, { start, count: BigInt(count) })).map(toPet);
    },

    async add(newPet: NewPet, accountId?: bigint): Promise<Pet> {
      const pet = completeNewPet(newPet);
      const id = await database.transact(addOnePet, toValues(pet), accountId);
      return { id, ...pet };
    },

    /** Adds an animal once per idempotency key, and returns the response. Throws as `answerOnce` does. */
    addOnce: (newPet: NewPet, idempotency: Idempotency, locationStart: string): Promise<Given> =>
      firstAnswers.run(idempotency, () =>
        database.transact(addPetOnce, { newPet, idempotency, locationStart }, idempotency.accountId),
      ),

    /** Changes the fields in `patch` and returns the animal. Throws as `edit` does. */
    change: (id: bigint, patch: PetPatch, tags: IfMatch, accountId?: bigint): Promise<Pet> =>
      edit(database, { id, patch, tags }, accountId),

    remove: (id: bigint, tags: IfMatch, accountId?: bigint): Promise<Pet> =>
      edit(database, { id, patch: null, tags }, accountId),

    load: (batches: AsyncIterable<readonly LoadedPet[]>, options?: LoadPetsOptions): Promise<LoadedCounts> =>
      loadPets(database, batches, options),

    /** Yields all animals in batches, oldest first. */
    async *listAll(): AsyncGenerator<readonly Pet[]> {
      let afterId = 0n;
      for (;;) {
        const rows = await database.read(selectOldest, { afterId, count: exportBatchRows });
        if (rows.length === 0) return;
        yield rows.map(toPet);
        afterId = rows.at(-1)?.id ?? afterId;
      }
    },
  };
}
