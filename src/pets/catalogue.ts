import type { Given, Idempotency } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import { addPetInOneStatement, addPetOnce } from './keyed-adds.ts';
import { type LoadedCounts, type LoadedPet, type LoadPetsOptions, loadPets } from './load-pets.ts';
import { completeNewPet, type NewPet, type Pet } from './pet.ts';
import { createPetEdits, type PetEdits } from './pet-edits.ts';
import { type ListQuery, type Page, readPage } from './pet-pages.ts';
import { insertedId, insertPet, selectOldest, selectPet, toPet } from './pet-rows.ts';

const exportBatchRows = 1_000n;

/** The animals of a store. On SQLite, reads are synchronous. Methods throw the errors of the database (database.ts). */
export interface Catalogue extends PetEdits {
  /** Returns a page of animals, newest first (contract section 3). Deep pages cost as much as the first page. */
  list(query: ListQuery): Soon<Page>;
  /** Returns null if the animal does not exist. */
  get(id: bigint): Soon<Pet | null>;
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

/** Creates the catalogue of a store. */
export function createCatalogue(database: Database, firstAnswers: FirstAnswers): Catalogue {
  return {
    ...createPetEdits(database),

    list: (query) => readPage(database, query),

    get: (id) => after(database.read(selectPet, { id }), ([row]) => (row === undefined ? null : toPet(row))),

    // Uses `then`, because `await` would add a microtask turn to each addition.
    add(newPet) {
      const complete = completeNewPet(newPet);
      const { name, categoryId, status } = complete;
      return database
        .run(insertPet, complete)
        .then((rows) => ({ id: insertedId(rows), name, categoryId, status }));
    },

    addOnce(newPet, idempotency, locationStart) {
      return firstAnswers.run(idempotency, (nowMs) => {
        const add = { newPet, idempotency, locationStart, nowMs };
        return database.engine === 'postgres'
          ? addPetInOneStatement(database, firstAnswers, add)
          : database.transact(addPetOnce, add);
      });
    },

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
