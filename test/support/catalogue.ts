import type { Clock } from '../../src/clock.ts';
import { createFirstAnswers } from '../../src/idempotency/first-answers.ts';
import { type Catalogue, createCatalogue } from '../../src/pets/catalogue.ts';
import type { Database } from '../../src/storage/database.ts';

/** The catalogue of a database, with its own stored first answers. */
export function openCatalogue(database: Database, clock: Clock): Catalogue {
  return createCatalogue(database, createFirstAnswers(database, clock));
}
