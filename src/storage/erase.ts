import { type RawBuilder, sql } from 'kysely';
import { statement } from './database.ts';
import type { ByEngine, Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

type Batch = { accountId: bigint; afterId: bigint; count: bigint };

/** A statement that erases the next rows of a deleted account in `table`, at most `count`, and returns the ids of those. */
export type Erasure = ReturnType<typeof erase>;

type Condition = (batch: Batch) => RawBuilder<boolean>;
type Blanks = (dialect: Dialect) => Readonly<Record<string, RawBuilder<unknown>>>;

/** Declares a statement that blanks the rows of a condition, or deletes them without `blanks`. */
export function erase(table: keyof Tables, condition: Condition, blanks?: Blanks, id = sql<bigint>`0`) {
  const erasure = statement((query, p: Batch, dialect) => {
    const rows = condition(p);
    const erased = id.as('id');
    if (blanks === undefined) return query.deleteFrom(table).where(rows).returning(erased);
    const values = blanks(dialect) as never;
    return query.updateTable(table).set(values).where(rows).returning(erased);
  });
  return { ...erasure, table };
}

/** Declares a statement that erases the next rows of an account in a table with ids. */
export function eraseNext(table: keyof Tables, blanks?: Blanks, condition = sql`true`) {
  const next: Condition = ({ accountId, afterId, count }) => sql`id in (select id from ${sql.table(table)}
    where account_id = ${accountId} and id > ${afterId} and ${condition} order by id limit ${count})`;
  return erase(table, next, blanks, sql`id`);
}

/** The JSON object of a text column with null in place of one of its fields. */
export const blankField: ByEngine<(column: string, field: string) => RawBuilder<string>> = {
  sqlite: (column, field) => sql`json_set(${sql.ref(column)}, ${sql.lit(`$.${field}`)}, null)`,
  postgres: (column, field) =>
    sql`cast(jsonb_set(cast(${sql.ref(column)} as jsonb), ${sql.lit(`{${field}}`)}, 'null') as text)`,
};
