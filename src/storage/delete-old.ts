import { sql } from 'kysely';
import { type Database, statement } from './database.ts';
import type { Tables } from './tables.ts';

/** Maximum number of rows that one statement deletes, so that other writes can run in between. */
const deletedRowsMax = 1_000;

/**
 * Returns a function that deletes the rows of a table whose column `time` is before `beforeMs`, the oldest first.
 * The primary key has the columns `key`. A table with many rows needs an index over `time`.
 */
export function deletesOld<T extends keyof Tables>(
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  time: keyof Tables[T] & string,
) {
  const deleteOldest = statement<{ beforeMs: bigint; count: bigint }>()((query, p) => {
    const names = sql.join(key.map((name) => sql.ref(name)));
    const isOld = sql<boolean>`${sql.ref(time)} < ${p.beforeMs}`;
    const oldest = sql`select ${names} from ${sql.table(table)} where ${isOld}
      order by ${sql.ref(time)} limit ${p.count}`;
    return (
      query
        .deleteFrom<keyof Tables>(table)
        // The condition stands twice, because another instance may write a row after the subquery has selected it.
        .where(isOld)
        .where(sql<boolean>`(${names}) in (${oldest})`)
        .returning(sql.lit(1n).as('deleted'))
    );
  });
  return async (database: Database, beforeMs: number): Promise<void> => {
    const oldest = { beforeMs: BigInt(beforeMs), count: BigInt(deletedRowsMax) };
    while ((await database.run(deleteOldest, oldest)).length === deletedRowsMax);
  };
}
