import { type InsertType, type RawBuilder, sql } from 'kysely';
import { type Statement, statement, type Value } from './database.ts';
import type { Tables } from './tables.ts';

type Column<T extends keyof Tables> = keyof Tables[T] & string;

type Row<T extends keyof Tables, C extends Column<T>> = {
  readonly [Name in C]: Extract<InsertType<Tables[T][Name]>, Value>;
};

/** What happens if the table already has a row with the same values in the columns `on`. */
interface Conflict<C> {
  readonly on: readonly C[];
  readonly replace: readonly C[];
  /** These columns get the sum of the stored and the new value. */
  readonly add?: readonly C[];
}

/** True unless the account is deleted. For what is written later than it happened, after the erasure of the account. */
export const isOfNoDeletedAccount = (accountId: bigint | null) =>
  sql<boolean>`not exists (select 1 from accounts where id = ${accountId} and deleted_at_ms is not null)`;

/**
 * Declares an insert whose parameters are its columns. Without `conflict`, a row that exists violates a constraint. If
 * `condition` is false, nothing is written.
 */
export function insertRow<T extends keyof Tables, C extends Column<T>>(
  table: T,
  columns: readonly C[],
  conflict?: Conflict<C>,
  condition?: (row: Row<T, C>) => RawBuilder<boolean>,
): Statement<Row<T, C>, unknown> {
  return statement((query, p: Row<T, C>) => {
    const into = query.insertInto(table);
    const insert =
      condition === undefined
        ? into.values(Object.fromEntries(columns.map((name) => [name, p[name]])) as never)
        : into
            .columns(columns as never)
            .expression(
              sql`select ${sql.join(columns.map((name) => p[name]))} where ${condition(p)}` as never,
            );
    if (conflict === undefined) return insert;
    const { on, replace, add = [] } = conflict;
    const changes = Object.fromEntries([
      ...replace.map((name) => [name, sql.ref(`excluded.${name}`)]),
      ...add.map((name) => [name, sql`${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`]),
    ]);
    return insert.onConflict((target) => target.columns(on as never).doUpdateSet(changes as never));
  });
}

/** Returns these columns of a row, for example of the parameters of a statement. */
export const pick = <Row, Column extends keyof Row>(row: Row, columns: readonly Column[]) =>
  Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<Row, Column>;
