import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../storage/database.ts';

/**
 * A range of one index of `orders`: the entries with the given values in the first columns and an id up to `newestId`.
 */
export interface OrderRange {
  readonly index: string;
  /** The columns of the index before `id`, each with its required value. */
  readonly key: readonly (readonly [column: string, value: RawBuilder<unknown>])[];
  readonly newestId: RawBuilder<unknown>;
  /** Further conditions. For a partial index, they include the condition of the index. */
  readonly conditions: readonly RawBuilder<unknown>[];
  readonly count: RawBuilder<unknown>;
}

/**
 * Returns a query that reads the range through its index, whatever the planner's statistics say.
 *
 * - On SQLite, the query names the index. The caller adds `order by` and `limit`, because a part of a union cannot have
 *   them.
 * - On PostgreSQL, the bounds and the sort order match only this index. The query returns at most `count` orders,
 *   newest first.
 */
export function selectRange(
  columns: RawBuilder<unknown>,
  { index, key, newestId, conditions, count }: OrderRange,
  engine: Dialect['engine'],
): RawBuilder<unknown> {
  const ands = (all: readonly RawBuilder<unknown>[]) => sql.join([...all, ...conditions], sql` and `);
  if (engine === 'sqlite') {
    const equal = key.map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
    return sql`select ${columns} from orders indexed by ${sql.ref(index)}
      where ${ands([...equal, sql`id <= ${newestId}`])}`;
  }
  const names = sql.join(key.map(([column]) => sql.ref(column)));
  const values = sql.join(key.map(([, value]) => value));
  const order = sql.join(
    [...key.map(([column]) => column), 'id'].map((column) => sql`${sql.ref(column)} desc`),
  );
  const bounds = [sql`(${names}, id) <= (${values}, ${newestId})`, sql`(${names}) >= (${values})`];
  return sql`(select ${columns} from orders where ${ands(bounds)} order by ${order} limit ${count})`;
}
