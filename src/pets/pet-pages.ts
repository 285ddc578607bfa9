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
  /** Maximum number of animals on the page, 1 to 100 in a request. */
  readonly limit: number;
  /** Lists only animals with this status. Null lists all. */
  readonly status: PetStatus | null;
  /** Lists only animals with this category. Null lists all. */
  readonly categoryId?: bigint | null;
  /** Lists only animals with these ids, 1 to 100 ids. Null lists all. */
  readonly ids?: readonly bigint[] | null;
  /** The highest id that the page may contain. Null starts with the newest animal. */
  readonly newestId: bigint | null;
}

/** A page of animals. */
export interface Page {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** The `newestId` for the next page. Null on the last page. */
  readonly nextNewestId: bigint | null;
}

/** Reads a page. Deep pages cost as much as the first page. */
export function readPage(database: Database, query: ListQuery): Soon<Page> {
  return after(readRows(database, query), (rows) => ({
    pets: rows.slice(0, query.limit).map(toPet),
    nextNewestId: rows[query.limit]?.id ?? null,
  }));
}

/** Reads one row more than fits on the page. The extra row is the first of the next page. */
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
