import { sql } from 'kysely';
import { type Database, statement } from './database.ts';
import type { Tables } from './tables.ts';

/** Maximum number of rows that one statement deletes, so that other writes can run in between. */
const deletedRowsMax = 1_000;

interface Options {
  /**
   * `time` (default) deletes the rows with the oldest times first; a table with many rows needs an index over `time`. `key`
   * needs none: it looks at the rows with the lowest keys alone, so it is for tables whose times grow with their keys.
   */
  readonly by?: 'time' | 'key';
  /** If true, the function takes an age in ms, by the store's clock. Otherwise it takes a time in Unix milliseconds. */
  readonly byAge?: boolean;
}

/** Returns a function that deletes the rows of a table whose column `time` is too old. `key` is the primary key. */
export function deletesOld<T extends keyof Tables>(
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  time: keyof Tables[T] & string,
  { by = 'time', byAge = false }: Options = {},
) {
  const deleteOldest = statement<{ ms: bigint; count: bigint }>()((query, p, { nowMs }) => {
    const names = sql.join(key.map((name) => sql.ref(name)));
    const isOld = sql<boolean>`${sql.ref(time)} < ${byAge ? sql`${nowMs} - ${p.ms}` : p.ms}`;
    const oldest =
      by === 'time'
        ? sql`where ${isOld} order by ${sql.ref(time)} limit ${p.count}`
        : sql`order by ${names} limit ${p.count}`;
    return (
      query
        .deleteFrom<keyof Tables>(table)
        // The condition stands twice, because another instance may write a row after the subquery has selected it.
        .where(isOld)
        .where(sql<boolean>`(${names}) in (select ${names} from ${sql.table(table)} ${oldest})`)
        .returning(sql.lit(1n).as('deleted'))
    );
  });
  return async (database: Database, ms: number | bigint): Promise<void> => {
    const oldest = { ms: BigInt(ms), count: BigInt(deletedRowsMax) };
    while ((await database.run(deleteOldest, oldest)).length === deletedRowsMax);
  };
}
