import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import type { Pet, PetStatus } from './pet.ts';
import {
  selectNewest,
  selectNewestNamed,
  selectNewestOf,
  selectNewestOfBoth,
  selectNewestOfCategory,
} from './pet-page-rows.ts';
import { type PetRow, toPet } from './pet-rows.ts';

/** Which page of the animals is asked for. */
export interface ListQuery {
  /** The most animals that a page holds, 1 to 100. */
  readonly limit: number;
  /** Only animals of this status; null lists all. */
  readonly status: PetStatus | null;
  /** Only animals of this category; null lists all. */
  readonly categoryId?: bigint | null;
  /** Only the animals of these ids, 1 to 100; null lists all. */
  readonly ids?: readonly bigint[] | null;
  /** Only animals whose id is at most this; null begins with the newest. */
  readonly newestId: bigint | null;
}

/** A page of animals, and where the next one begins. */
export interface Page {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** Where the next page begins; null on the last page. */
  readonly nextNewestId: bigint | null;
}

/** Reads a page, at the same cost at any depth. */
export function readPage(database: Database, query: ListQuery): Soon<Page> {
  return after(readRows(database, query), (rows) => ({
    pets: rows.slice(0, query.limit).map(toPet),
    nextNewestId: rows[query.limit]?.id ?? null,
  }));
}

/** One row more than the page has, if there is one. */
function readRows(database: Database, query: ListQuery): Soon<readonly PetRow[]> {
  const { limit, status, categoryId = null, ids = null, newestId } = query;
  const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
  if (ids !== null)
    return database.read(selectNewestNamed, { ...range, ids: `[${ids.join()}]`, status, categoryId });
  if (categoryId === null)
    return database.read(status === null ? selectNewest : selectNewestOf[status], range);
  const target = status === null ? selectNewestOfCategory : selectNewestOfBoth[status];
  return database.read(target, { ...range, categoryId });
}
