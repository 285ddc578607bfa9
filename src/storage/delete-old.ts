import { type RawBuilder, sql } from 'kysely';
import { type Database, statement } from './database.ts';
import type { Tables } from './tables.ts';

/** Maximum number of rows that one statement deletes, so that other writes can run in between. */
const deletedRowsMax = 1_000;

/**
 * Returns a function that deletes the rows of a table whose column `time` is before a time in Unix milliseconds. `key` is
 * the primary key. Each statement passes over the rows that another transaction has locked; they wait for the next call.
 *
 * By `time`, the rows with the oldest times go first; a table with many rows needs an index over `time`. By `key`, none is
 * needed: each statement looks at the rows with the lowest keys alone, so it is for tables whose times grow with their keys.
 */
export function deletesOld<T extends keyof Tables>(
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  time: keyof Tables[T] & string,
  by: 'time' | 'key' = 'time',
) {
  const deleteOldest = statement((query, p: { beforeMs: bigint; count: bigint }, { lockFreeRows }) => {
    const names = sql.join(key.map((name) => sql.ref(name)));
    const isOld = sql<boolean>`${sql.ref(time)} < ${p.beforeMs}`;
    const oldest = by === 'time' ? sql`where ${isOld} order by ${sql.ref(time)}` : sql`order by ${names}`;
    return query
      .with(
        'oldest',
        () => sql<object>`(select ${names} from ${sql.table(table)} ${oldest}
        limit ${p.count} ${lockFreeRows})`,
      )
      .deleteFrom<keyof Tables>(table)
      .where(isOld)
      .where(sql<boolean>`(${names}) in (select ${names} from oldest)`)
      .returning(sql.lit(1n).as('deleted'));
  });
  return async (database: Database, beforeMs: number): Promise<void> => {
    const oldest = { beforeMs: BigInt(beforeMs), count: BigInt(deletedRowsMax) };
    while ((await database.run(deleteOldest, oldest)).length === deletedRowsMax);
  };
}

/** Returns the condition that a row is not among the newest `count` ones of its owner. `owner` is a column of the table. */
export function isBeyondNewest<T extends keyof Tables>(
  table: T,
  owner: keyof Tables[T] & string,
  id: bigint,
  count: number,
): RawBuilder<boolean> {
  return sql`id <= (select older.id from ${sql.table(table)} as older where older.${sql.ref(owner)} = ${id}
    order by older.id desc limit 1 offset ${sql.lit(count)})`;
}
