import { type RawBuilder, sql } from 'kysely';

/** The engines of a store. */
export type Engine = 'sqlite' | 'postgres';

/** What differs between the engines, used by the name of the engine. */
export type ByEngine<T> = Readonly<Record<Engine, T>>;

/** The first columns of an index, which may be expressions, with their values. */
export type Keyset = readonly (readonly [column: string | RawBuilder<unknown>, value: RawBuilder<unknown>])[];

interface KeysetPage {
  readonly where: RawBuilder<boolean>;
  readonly orderBy: RawBuilder<unknown>;
}

/** The SQL expressions that differ between engines and have several users. One with one user stands with it (`ByEngine`). */
export interface Dialect {
  readonly engine: Engine;
  /** The store's clock in Unix milliseconds, read when the statement runs. */
  readonly nowMs: RawBuilder<bigint>;
  /** Ends a select: locks its rows until the transaction ends. Empty on SQLite, which runs one transaction at a time. */
  readonly lockRows: RawBuilder<unknown>;
  /** Like `lockRows`, but leaves out the rows that another transaction has locked. */
  readonly lockFreeRows: RawBuilder<unknown>;
  /** Takes an advisory lock until the transaction ends: 1, or 0 if another transaction has the lock. */
  tryLock(lock: bigint): RawBuilder<bigint>;
  /** A page, newest first, that reads only its rows of an index over `key` and `id`, whatever the statistics say. */
  keyset(key: Keyset, newestId: bigint): KeysetPage;
  /** Like `keyset`, but oldest first, with the rows after an id. */
  keysetAfter(key: Keyset, afterId: RawBuilder<unknown>): KeysetPage;
  /** True if a column has one of the values of a parameter, a JSON array. Reads by the index of the column. */
  isAmong(column: string, json: string, type?: 'bigint' | 'text'): RawBuilder<boolean>;
}

/** The expressions of each engine. */
export const dialects: ByEngine<Dialect> = {
  sqlite: {
    engine: 'sqlite',
    nowMs: sql`cast(round(unixepoch('subsec') * 1000) as integer)`,
    lockRows: sql``,
    lockFreeRows: sql``,
    tryLock: (lock) => sql`cast(${lock} is not null as integer)`,
    keyset: (key, newestId) => ({
      where: sql`${areEqual(key)} and id <= ${newestId}`,
      orderBy: sql`id desc`,
    }),
    keysetAfter: (key, afterId) => ({
      where: sql`${areEqual(key)} and id > ${afterId}`,
      orderBy: sql`id`,
    }),
    isAmong: (column, json) => sql`${sql.ref(column)} in (select value from json_each(${json}))`,
  },
  postgres: {
    engine: 'postgres',
    nowMs: sql`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`,
    lockRows: sql`for no key update`,
    lockFreeRows: sql`for no key update skip locked`,
    tryLock: (lock) => sql`cast(pg_try_advisory_xact_lock(cast(${lock} as bigint)) as int)`,
    // The bounds and the order match only the index over these columns, so the planner has no other choice.
    keyset(key, newestId) {
      const { columns, values } = readKeyset(key);
      const order = [...columns, sql.ref('id')];
      return {
        where: sql`(${sql.join(order)}) <= (${values}, ${newestId})
          and (${sql.join(columns)}) >= (${values})`,
        orderBy: sql.join(order.map((column) => sql`${column} desc`)),
      };
    },
    keysetAfter(key, afterId) {
      const { columns, values } = readKeyset(key);
      const order = sql.join([...columns, sql.ref('id')]);
      return {
        where: sql`(${order}) > (${values}, ${afterId}) and (${sql.join(columns)}) <= (${values})`,
        orderBy: order,
      };
    },
    // An array, because the planner assumes that a subquery has 100 rows, and may read the whole table for them.
    isAmong: (column, json, type = 'bigint') => sql`${sql.ref(column)} = any(array(
      select cast(value as ${sql.raw(type)}) from json_array_elements_text(cast(${json} as json))))`,
  },
};

const toColumn = ([column]: Keyset[number]) => (typeof column === 'string' ? sql.ref(column) : column);

function readKeyset(key: Keyset) {
  return { columns: key.map(toColumn), values: sql.join(key.map(([, value]) => value)) };
}

function areEqual(key: Keyset): RawBuilder<unknown> {
  return sql.join(
    key.map((part) => sql`${toColumn(part)} = ${part[1]}`),
    sql` and `,
  );
}
