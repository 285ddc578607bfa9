import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../storage/database.ts';
import type { Pet } from './pet.ts';
import { type ListQuery, readPage } from './pet-pages.ts';

/** Maximum number of animals that one search reads. The next search continues after these animals. */
export const searchedMax = 10_000;
/** Number of animals in one read. The event loop runs between two reads of a search. */
export const searchReadRows = 500;

/** The result of a search by name. */
export interface SearchPage {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** Number of animals that were read. */
  readonly searched: number;
  /** The `newestId` for the next search. Null if there are no more animals to search. */
  readonly nextNewestId: bigint | null;
}

/**
 * Finds animals whose name contains `text`, ignoring case. Reads at most `searchedMax` animals and stops after `limit`
 * results, so the cost does not depend on the size of the store.
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
