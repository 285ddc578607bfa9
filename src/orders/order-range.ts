import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../storage/database.ts';

/** A range of one index of orders: given values of its first columns, from an id downwards. */
export interface OrderRange {
  readonly index: string;
  /** The columns of the index before `id`, each with its required value. */
  readonly key: readonly (readonly [column: string, value: RawBuilder<unknown>])[];
  readonly newestId: RawBuilder<unknown>;
  /** Further conditions, including the condition of a partial index. */
  readonly conditions: readonly RawBuilder<unknown>[];
  readonly count: RawBuilder<unknown>;
}

/**
 * A query that reads a range along its index, whatever the engine's statistics say. SQLite gets the name of the index,
 * and the caller adds order and limit, because the query may be part of a union. For PostgreSQL, bounds and order match
 * only this index. It reads at most `count` orders, newest first.
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
