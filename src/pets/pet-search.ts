import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../storage/database.ts';
import type { Pet } from './pet.ts';
import { type ListQuery, readPage } from './pet-pages.ts';

/** The most animals that one search reads. The next search continues after them. */
export const searchedMax = 10_000;
/** How many animals it reads at once. The event loop runs between two reads. */
export const searchReadRows = 500;

/** The result of a search by name. */
export interface SearchPage {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** How many animals were read. */
  readonly searched: number;
  /** Where the next search continues. Null at the end. */
  readonly nextNewestId: bigint | null;
}

/**
 * Finds animals whose name contains a text, in any case. It reads the newest `searchedMax` animals of a filter at most
 * and stops after `limit` results. The cost does not depend on the size of the store.
 */
export async function searchPets(
  database: Database,
  text: string,
  { limit, newestId, ...filter }: ListQuery,
): Promise<SearchPage> {
  const wanted = fold(text);
  const pets: Pet[] = [];
  let searched = 0;
  let next = newestId;
  while (searched < searchedMax) {
    const rows = Math.min(searchReadRows, searchedMax - searched);
    const page = await readPage(database, { ...filter, limit: rows, newestId: next });
    for (const pet of page.pets) {
      if (pets.length === limit) return { pets, searched, nextNewestId: pet.id };
      searched += 1;
      if (fold(pet.name).includes(wanted)) pets.push(pet);
    }
    next = page.nextNewestId;
    if (next === null) break;
    await nextTurn();
  }
  return { pets, searched, nextNewestId: next };
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
