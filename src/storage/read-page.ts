import { int64Max } from '../int64.ts';
import type { Database, Parameters, Statement, Value } from './database.ts';

/** A page of a list. A position is the id of the first item of a page, unless the list says otherwise. */
export interface Page<Item, Position = bigint> {
  readonly items: readonly Item[];
  /** The position of the next page. Null on the last page. */
  readonly next: Position | null;
}

/** Makes a page of the first `limit` rows. A further row is the first one of the next page. */
export function toPage<Row extends { readonly id: unknown }, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
): Page<Item, Row['id']> {
  return { items: rows.slice(0, limit).map((row) => toItem(row)), next: rows[limit]?.id ?? null };
}

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
