import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, type Given, type Idempotency } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import type { Page } from '../page.ts';
import { type Database, defineTransaction, type Steps } from '../storage/database.ts';
import { type LoadedCounts, type LoadedPet, type LoadPetsOptions, loadPets } from './load-pets.ts';
import { completeNewPet, type NewPet, type Pet } from './pet.ts';
import { createPetEdits, type PetEdits } from './pet-edits.ts';
import { type ListQuery, readPage } from './pet-pages.ts';
import { addPet, insertedId, insertPet, selectOldest, selectPet, toPet, toValues } from './pet-rows.ts';

const exportBatchRows = 1_000n;

/** The animals of a store. Methods throw the errors of the database (database.ts). */
export interface Catalogue extends PetEdits {
  /** Returns a page of animals, newest first (contract section 3). Deep pages cost as much as the first page. */
  list(query: ListQuery): Promise<Page<Pet>>;
  /** Returns null if the animal does not exist. */
  get(id: bigint): Promise<Pet | null>;
  /** Adds an animal. Resolves to the animal with its id after the write is durable. */
  add(newPet: NewPet): Promise<Pet>;
  /**
   * Adds an animal once per idempotency key, even if the request is repeated, and returns the response. The `Location`
   * of the response is `locationStart` followed by the id. Throws `idempotency_key_reused` and
   * `idempotency_key_in_use`.
   */
  addOnce(newPet: NewPet, idempotency: Idempotency, locationStart: string): Promise<Given>;
  /** Adds and changes animals in the order of `batches`, all or none (load-pets.ts). */
  load(batches: AsyncIterable<readonly LoadedPet[]>, options?: LoadPetsOptions): Promise<LoadedCounts>;
  /** Yields all animals in batches, oldest first. */
  listAll(): AsyncGenerator<readonly Pet[]>;
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

/** Creates the catalogue of a store. */
export function createCatalogue(database: Database, firstAnswers: FirstAnswers): Catalogue {
  return {
    ...createPetEdits(database),

    list: (query) => readPage(database, query),

    async get(id) {
      const [row] = await database.read(selectPet, { id });
      return row === undefined ? null : toPet(row);
    },

    async add(newPet) {
      const pet = completeNewPet(newPet);
      const id = insertedId(await database.run(insertPet, toValues(pet)));
      return { id, ...pet };
    },

    addOnce: (newPet, idempotency, locationStart) =>
      firstAnswers.run(idempotency, () =>
        database.transact(addPetOnce, { newPet, idempotency, locationStart }),
      ),

    load: (batches, options) => loadPets(database, batches, options),

    async *listAll() {
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
