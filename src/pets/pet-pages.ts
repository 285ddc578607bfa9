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

/** A query for a page of animals. */
export interface ListQuery {
  /** The most animals on the page, 1 to 100. */
  readonly limit: number;
  /** Only animals of this status; null lists all. */
  readonly status: PetStatus | null;
  /** Only animals of this category; null lists all. */
  readonly categoryId?: bigint | null;
  /** Only the animals of these ids, 1 to 100; null lists all. */
  readonly ids?: readonly bigint[] | null;
  /** Only animals whose id is at most this. Null begins with the newest. */
  readonly newestId: bigint | null;
}

/** A page of animals. */
export interface Page {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** The first id of the next page. Null on the last page. */
  readonly nextNewestId: bigint | null;
}

/** Reads a page. The cost does not depend on the depth. */
export function readPage(database: Database, query: ListQuery): Soon<Page> {
  return after(readRows(database, query), (rows) => ({
    pets: rows.slice(0, query.limit).map(toPet),
    nextNewestId: rows[query.limit]?.id ?? null,
  }));
}

/** Reads one more row than the page has, if there is one. */
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
