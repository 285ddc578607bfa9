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
