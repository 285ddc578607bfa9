import { createFirstAnswers } from '../../src/idempotency/first-answers.ts';
import { type Catalogue, createCatalogue } from '../../src/pets/catalogue.ts';
import type { Database } from '../../src/storage/database.ts';

/** Creates a catalogue over a database, with a separate store of the first answers to Idempotency-Keys. */
export function openCatalogue(database: Database): Catalogue {
  return createCatalogue(database, createFirstAnswers(database));
}
