import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Database, Parameters, Statement, Value } from './database.ts';

/** The parameters of a page besides its filters: at most `count` rows, from the id `newestId` on. */
export type PageRange = { readonly newestId: bigint; readonly count: bigint };

/** The filters, the size and the start of a page. A filter that is absent or null matches everything. */
export type PageQuery<Filter> = {
  readonly [Name in keyof Filter]?:
    | Filter[Name]
    | (bigint extends Filter[Name] ? number : never)
    | null
    | undefined;
} & {
  readonly limit: number;
  /** Id of the first row on the page. Absent or null: the page starts at the newest row. */
  readonly newestId?: bigint | null;
};

/** Returns a page of a list, newest first. */
export async function readPage<P extends Parameters & PageRange, Row extends { readonly id: unknown }, Item>(
  database: Database,
  select: Statement<P, Row>,
  { limit, newestId, ...filters }: PageQuery<Omit<P, keyof PageRange>>,
  toItem: (row: Row) => Item,
): Promise<Page<Item, Row['id']>> {
  const given = filters as Readonly<Record<string, Value | number | undefined>>;
  const values: Record<string, Value> = {};
  for (const name of Object.keys(given)) {
    const value = given[name] ?? null;
    values[name] = typeof value === 'number' ? BigInt(value) : value;
  }
  values['newestId'] = newestId ?? int64Max;
  values['count'] = BigInt(limit) + 1n;
  return toPage(await database.read(select, values as P), limit, toItem);
}
