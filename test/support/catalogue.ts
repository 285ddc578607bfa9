import { Readable } from 'node:stream';
import { createFirstAnswers } from '../../src/idempotency/answer-once.ts';
import { type Catalogue, createCatalogue } from '../../src/pets/catalogue.ts';
import { type LoadedPet, loadPets } from '../../src/pets/load-pets.ts';
import type { PetPatch } from '../../src/pets/pet.ts';
import { type PetValues, toValues } from '../../src/pets/pet-rows.ts';
import type { Database } from '../../src/storage/database.ts';

/** Creates a catalogue over a database, with a separate store of the first answers to Idempotency-Keys. */
export function openCatalogue(database: Database): Catalogue {
  return createCatalogue(database, createFirstAnswers(database));
}

/** Adds animals in one batch, as an import does. */
export async function importPets(database: Database, pets: readonly LoadedPet[] = []): Promise<void> {
  await loadPets(database, Readable.from([pets]));
}

/** Returns the parameters of `insertPet`. By default, the animal is an available Rex of category 1. */
export function petValues(fields: { name?: string; categoryId?: bigint; status?: string } = {}): PetValues {
  return toValues({ name: 'Rex', categoryId: 1n, status: 'available', ...fields } as PetPatch);
}
