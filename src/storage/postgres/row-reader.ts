import { type ClientConfig, types } from 'pg';

/** The server's description of a column. */
export interface Column {
  readonly name: string;
  readonly dataTypeID: number;
}

/**
 * Returns a row object from the texts of its columns. All objects have the same shape, which makes reading their
 * properties fast.
 */
export type RowReader = (texts: readonly (string | null)[]) => Readonly<Record<string, unknown>>;

/**
 * Integer types. Their values become bigints. Values of other types are parsed by the driver: bytes become Buffers.
 */
const integerOids = new Set<number>([types.builtins.INT2, types.builtins.INT4, types.builtins.INT8]);

/** The driver's setting `types`. */
export const valueTypes: NonNullable<ClientConfig['types']> = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    integerOids.has(oid) ? BigInt : types.getTypeParser(oid, format),
};

/** Creates a reader for rows with these columns. */
export function createRowReader(columns: readonly Column[]): RowReader {
  const names = columns.map(({ name }) => name);
  const parsers = columns.map(({ dataTypeID }) => valueTypes.getTypeParser(dataTypeID, 'text'));
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, null]));
  return (texts) => {
    const row: Record<string, unknown> = { ...blank };
    for (let at = 0; at < names.length; at += 1) {
      const text = texts[at];
      if (text !== null && text !== undefined) row[names[at] as string] = parsers[at]?.(text);
    }
    return row;
  };
}
