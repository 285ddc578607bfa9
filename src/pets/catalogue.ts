import type { Authorship } from '../audit/audit-log.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, type FirstAnswers, type Given, type Idempotency } from '../idempotency/answer-once.ts';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import { type Database, defineTransaction, type Steps } from '../storage/database.ts';
import { type LoadedCounts, type LoadedPet, type LoadPetsOptions, loadPets } from './load-pets.ts';
import { completeNewPet, type IfMatch, type NewPet, type Pet, type PetPatch } from './pet.ts';
import { edit } from './pet-edits.ts';
import { type PetFilter, selectPage } from './pet-pages.ts';
import { addPet, insertedId, insertPet, selectOldest, selectPet, toPet, toValues } from './pet-rows.ts';

const exportBatchRows = 1_000n;

/** A query for a page of animals. */
export interface ListQuery extends PetFilter {
  /** Maximum number of animals on the page, 1 to 100 in a request. */
  readonly limit: number;
  /** The highest id that the page may contain. Null starts with the newest animal. */
  readonly newestId: bigint | null;
}

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
    async list({ limit, newestId, ...filter }: ListQuery): Promise<Page<Pet>> {
      const { categoryId = null, ids = null } = filter;
      const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      const named = ids === null ? null : `[${ids.join()}]`;
      return toPage(
        await database.read(selectPage(filter), { ...range, categoryId, ids: named }),
        limit,
        toPet,
      );
    },

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

    /** Changes the fields in `patch` and returns the animal (pet-edits.ts). */
    change: (id: bigint, patch: PetPatch, tags: IfMatch): Promise<Pet> => edit(database, { id, patch, tags }),

    /** Deletes an animal (pet-edits.ts). */
    remove: (id: bigint, tags: IfMatch): Promise<Pet> => edit(database, { id, patch: null, tags }),

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
