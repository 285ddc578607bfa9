import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, type Given, type Idempotency } from '../idempotency/answer-once.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import type { Page } from '../page.ts';
import { type Database, defineTransaction, type Steps } from '../storage/database.ts';
import { type LoadedCounts, type LoadedPet, type LoadPetsOptions, loadPets } from './load-pets.ts';
import { completeNewPet, type IfMatch, type NewPet, type Pet, type PetPatch } from './pet.ts';
import { editPet, requireEdited } from './pet-edits.ts';
import { type ListQuery, readPage } from './pet-pages.ts';
import { addPet, insertedId, insertPet, selectOldest, selectPet, toPet, toValues } from './pet-rows.ts';

const exportBatchRows = 1_000n;

interface KeyedAdd {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency;
  /** The `Location` of the response without the id at its end. */
  readonly locationStart: string;
}

/** Adds an animal and stores the response as the first answer of the idempotency key. */
export const addPetOnce = defineTransaction(
  'addPetOnce',
  ({ newPet, idempotency, locationStart }: KeyedAdd): Steps<Given> =>
    answerOnce(idempotency, function* () {
      const pet = completeNewPet(newPet);
      const id = yield* addPet(pet);
      return { status: 201, location: `${locationStart}${id}`, body: stringifyExactJson({ id, ...pet }) };
    }),
  'row locks',
);

/** Adds an animal for an operator, with an audit entry. */
export const addPetByHand = defineTransaction(
  'addPetByHand',
  function* ({ newPet, by }: { readonly newPet: NewPet; readonly by: Authorship }): Steps<Pet> {
    const pet = completeNewPet(newPet);
    const id = yield* addPet(pet);
    const entry = { action: 'pet.added', subject: String(id), accountId: null } as const;
    yield* addAuditEntry(by, { ...entry, before: null, after: { ...pet } });
    return { id, ...pet };
  },
  'row locks',
);

/** What `createCatalogue` returns. */
export type Catalogue = ReturnType<typeof createCatalogue>;

/**
 * The animals of a store. Methods throw the errors of the database (database.ts). A write resolves when it is durable.
 * A change or deletion first closes an overdue hold of the animal.
 */
export function createCatalogue(database: Database, firstAnswers: FirstAnswers) {
  return {
    /** Returns a page of animals, newest first (contract section 3). Deep pages cost as much as the first page. */
    list: (query: ListQuery): Promise<Page<Pet>> => readPage(database, query),

    /** Returns null if the animal does not exist. */
    async get(id: bigint): Promise<Pet | null> {
      const [row] = await database.read(selectPet, { id });
      return row === undefined ? null : toPet(row);
    },

    /** Adds an animal. Returns it with its id. */
    async add(newPet: NewPet): Promise<Pet> {
      const pet = completeNewPet(newPet);
      const id = insertedId(await database.run(insertPet, toValues(pet)));
      return { id, ...pet };
    },

    /**
     * Adds an animal once per idempotency key, even if the request is repeated, and returns the response. The `Location`
     * of the response is `locationStart` followed by the id. Throws `idempotency_key_reused` and
     * `idempotency_key_in_use`.
     */
    addOnce: (newPet: NewPet, idempotency: Idempotency, locationStart: string): Promise<Given> =>
      firstAnswers.run(idempotency, () =>
        database.transact(addPetOnce, { newPet, idempotency, locationStart }),
      ),

    /**
     * Changes the fields in `patch` and returns the animal. Throws `not_found`, `precondition_failed` if the animal has
     * none of the `tags`, and `pet_in_order` if the patch changes the status and an order owns the animal.
     */
    change: async (id: bigint, patch: PetPatch, tags: IfMatch): Promise<Pet> =>
      requireEdited(await database.transact(editPet, { id, patch, tags })),

    /** Deletes an animal. Throws the errors of `change`, but throws `pet_in_order` whenever an order owns the animal. */
    async remove(id: bigint, tags: IfMatch): Promise<void> {
      requireEdited(await database.transact(editPet, { id, patch: null, tags }));
    },

    /** Adds and changes animals in the order of `batches`, all or none (load-pets.ts). */
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
