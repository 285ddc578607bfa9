import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../database.ts';

/** SQL fragments of one engine for `create table`. */
export interface ColumnTypes {
  /** The primary key of a table whose ids the store assigns. */
  readonly id: RawBuilder<unknown>;
  readonly integer: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** The text after the closing parenthesis of `create table`. */
  readonly end: RawBuilder<unknown>;
  /** Default value: the store's clock in Unix milliseconds. */
  readonly nowMs: RawBuilder<unknown>;
}

/** SQL fragments of each engine for `create table`. */
export const columnTypes: Readonly<Record<Dialect['engine'], ColumnTypes>> = {
  sqlite: {
    id: sql`integer primary key autoincrement`,
    integer: sql`integer`,
    bytes: sql`blob`,
    end: sql`strict`,
    nowMs: sql`(cast(round(unixepoch('subsec') * 1000) as integer))`,
  },
  postgres: {
    id: sql`bigint generated always as identity primary key`,
    integer: sql`bigint`,
    bytes: sql`bytea`,
    end: sql``,
    nowMs: sql`floor(extract(epoch from clock_timestamp()) * 1000)`,
  },
};
