import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Database, Parameters, Statement } from './database.ts';

/** The parameters of a page besides its filters: at most `count` rows, from the id `newestId` on. */
export type PageRange = { readonly newestId: bigint; readonly count: bigint };

/** The filters, the size and the start of a page. A filter that is absent or null matches everything. */
export type PageQuery<Filter> = {
  readonly [Name in keyof Filter]?: Filter[Name] | (bigint extends Filter[Name] ? number : never) | undefined;
} & {
  readonly limit: number;
  /** Id of the first row on the page. Absent or null: the page starts at the newest row. */
  readonly newestId?: bigint | null;
};

/** Returns a page of a list, newest first. `select` has the statement of each combination of filters (`byFilters`). */
export async function readPage<P extends Parameters & PageRange, Row extends { readonly id: unknown }, Item>(
  database: Database,
  select: (filter: never) => Statement<P, Row>,
  { limit, newestId, ...filters }: PageQuery<Omit<P, keyof PageRange>>,
  toItem: (row: Row) => Item,
): Promise<Page<Item, Row['id']>> {
  const values = Object.entries(filters).map(([name, value]) => [
    name,
    typeof value === 'number' ? BigInt(value) : (value ?? null),
  ]);
  const filter = Object.fromEntries(values);
  const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
  const rows = await database.read(select(filter as never), { ...filter, ...range } as P);
  return toPage(rows, limit, toItem);
}
