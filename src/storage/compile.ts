import { hash } from 'node:crypto';
import { Kysely, PostgresDialect, type RawBuilder, SqliteDialect, sql as sqlText } from 'kysely';
import type { Dialect, Keyset, Parameters, Statement, Value } from './database.ts';
import type { Tables } from './tables.ts';

interface CompiledStatement {
  readonly sql: string;
  /** The name under which PostgreSQL prepares the statement, a hash of its text. Empty if it is planned at each call. */
  readonly name: string;
  /** The parameter names of the placeholders, in order. */
  readonly names: readonly string[];
  /** False for a plain select, which may lock rows. */
  readonly isWriting: boolean;
}

/** Stands for the value of a parameter, and is its name. */
class Placeholder extends String {}

const openNothing = () => Promise.reject(new Error('statements are only compiled here'));

const builders = {
  sqlite: new Kysely<Tables>({ dialect: new SqliteDialect({ database: openNothing }) }),
  postgres: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openNothing }) }),
};

/** The newest position of the feed, even if its event is deleted. */
const sqliteVersion = sqlText<string | null>`(
  select cast(max(deleted_to, coalesce((select max(id) from events), 0)) as text) from event_horizon)`;

/** Number of events without a position from which the version is unknown, because counting more takes too long. */
const countedEventsMax = 1_000;

/**
 * The newest position of the feed, the number of events that have no position yet, the start of the server and its
 * timeline. While no event gets a position, that number only grows; when events get one, the newest position grows. So
 * two equal versions have seen the same commits, as long as the server loses none (synchronous_commit).
 */
const postgresVersion = sqlText<string | null>`(
  select case when waiting < ${sqlText.lit(countedEventsMax)} and not pg_is_in_recovery() then
    concat_ws(' ', newest, waiting, extract(epoch from pg_postmaster_start_time()),
      left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)) end
  from (select greatest(deleted_to, (select max(id) from events)) as newest,
      (select count(*) from (select from event_outbox limit ${sqlText.lit(countedEventsMax)}) as counted) as waiting
    from event_horizon offset 0) as feed)`;

const dialects: Readonly<Record<Dialect['engine'], Dialect>> = {
  sqlite: {
    engine: 'sqlite',
    nowMs: sqlText`cast(round(unixepoch('subsec') * 1000) as integer)`,
    storeVersion: sqliteVersion,
    tookOver: sqlText`0`,
    storeBytes: sqlText`(select page_count from pragma_page_count()) * (select page_size from pragma_page_size())`,
    least: (one, other) => sqlText`min(${one}, ${other})`,
    lockRows: sqlText``,
    lockFreeRows: sqlText``,
    tryLock: (lock) => sqlText`cast(${lock} is not null as integer)`,
    waitForLock: () => sqlText`null`,
    isExactly: (column, text) => sqlText`${sqlText.ref(column)} = ${sqlText.lit(text)}`,
    keyset: (key, newestId) => ({
      where: sqlText`${areEqual(key)} and id <= ${newestId}`,
      orderBy: sqlText`id desc`,
    }),
    keysetAfter: (key, afterId) => ({
      where: sqlText`${areEqual(key)} and id > ${afterId}`,
      orderBy: sqlText`id`,
    }),
    isAmong: (column, json) => sqlText`${sqlText.ref(column)} in (select value from json_each(${json}))`,
    blankField: (column, field) =>
      sqlText`json_set(${sqlText.ref(column)}, ${sqlText.lit(`$.${field}`)}, null)`,
    folded: (text) => sqlText`lower(${text})`,
    listTexts: (json) => sqlText`(select value from json_each(${json}))`,
  },
  postgres: {
    engine: 'postgres',
    nowMs: sqlText`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`,
    storeVersion: postgresVersion,
    // After a promotion or a restore, until the first insert (skip_lost_ids in migration 0004).
    tookOver: sqlText`case when pg_is_in_recovery() then 0
      when exists (select from server_timeline
        where timeline = read_timeline() and table_id = tableoid and written_in = xmin) then 0
      else 1 end`,
    storeBytes: sqlText`pg_database_size(current_database())`,
    least: (one, other) => sqlText`least(${one}, ${other})`,
    lockRows: sqlText`for no key update`,
    lockFreeRows: sqlText`for no key update skip locked`,
    tryLock: (lock) => sqlText`cast(pg_try_advisory_xact_lock(cast(${lock} as bigint)) as int)`,
    waitForLock: (group, lock) =>
      sqlText`cast(pg_advisory_xact_lock(${sqlText.lit(group)}, ${sqlText.lit(lock)}) as text)`,
    isExactly: (column, text) =>
      sqlText`${sqlText.ref(column)} >= ${sqlText.lit(text)} and ${sqlText.ref(column)} <= ${sqlText.lit(text)}`,
    // The bounds and the order match only the index over these columns, so the planner has no other choice.
    keyset(key, newestId) {
      const { columns, values } = readKeyset(key);
      const order = [...columns, sqlText.ref('id')];
      return {
        where: sqlText`(${sqlText.join(order)}) <= (${values}, ${newestId})
          and (${sqlText.join(columns)}) >= (${values})`,
        orderBy: sqlText.join(order.map((column) => sqlText`${column} desc`)),
      };
    },
    keysetAfter(key, afterId) {
      const { columns, values } = readKeyset(key);
      const order = sqlText.join([...columns, sqlText.ref('id')]);
      return {
        where: sqlText`(${order}) > (${values}, ${afterId}) and (${sqlText.join(columns)}) <= (${values})`,
        orderBy: order,
      };
    },
    // An array, because the planner assumes that a subquery has 100 rows, and may read the whole table for them.
    isAmong: (column, json) => sqlText`${sqlText.ref(column)} = any(array(
      select cast(value as bigint) from json_array_elements_text(cast(${json} as json))))`,
    blankField: (column, field) => sqlText`cast(
      jsonb_set(cast(${sqlText.ref(column)} as jsonb), ${sqlText.lit(`{${field}}`)}, 'null') as text)`,
    folded: (text) => sqlText`(lower(${text}) collate "C")`,
    listTexts: (json) => sqlText`(select value from json_array_elements_text(cast(${json} as json)))`,
  },
};

const toColumn = ([column]: Keyset[number]) => (typeof column === 'string' ? sqlText.ref(column) : column);

function readKeyset(key: Keyset) {
  return { columns: key.map(toColumn), values: sqlText.join(key.map(([, value]) => value)) };
}

function areEqual(key: Keyset): RawBuilder<unknown> {
  return sqlText.join(
    key.map((part) => sqlText`${toColumn(part)} = ${part[1]}`),
    sqlText` and `,
  );
}

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

const compiled = { sqlite: new WeakMap<object, CompiledStatement>(), postgres: new WeakMap() };

/** Returns a statement compiled for an engine. Throws TypeError if it has a value that is no named parameter. */
export function compileStatement<P extends Parameters, R>(
  target: Statement<P, R>,
  engine: Dialect['engine'],
): CompiledStatement {
  const known = compiled[engine].get(target);
  if (known !== undefined) return known;
  const built = target.build(builders[engine], placeholders as P, dialects[engine]).compile();
  const { query, sql, parameters } = built;
  const names = parameters.map((parameter) => {
    if (parameter instanceof Placeholder) return parameter.valueOf();
    throw new TypeError(`a statement has a value that is not a named parameter: ${sql}`);
  });
  const name = target.isPlannedEachTime ? '' : hash('sha256', sql, 'base64url');
  // With a bare parameter as the limit, SQLite prepares a page again at each binding, which takes a third of its time.
  const text = engine === 'sqlite' ? sql.replaceAll('limit ?', 'limit ? + 0') : sql;
  // A `with` may contain a statement that writes.
  const isWriting = query.kind !== 'SelectQueryNode' || query.with !== undefined;
  const made = { sql: text, name, names, isWriting };
  compiled[engine].set(target, made);
  return made;
}

/** Returns the parameter values in the order of `names`. Throws TypeError if a parameter is missing. */
export function placeParameters(names: readonly string[], parameters: Parameters): Value[] {
  return names.map((name) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`the parameter ${name} is missing`);
    return value;
  });
}

/** Returns a function that makes rows of one shape, which takes half as long as with the row objects of the drivers. */
export function createRowMaker<V>(columns: readonly string[], read: (value: V, place: number) => unknown) {
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(columns.map((name) => [name, null]));
  return (values: readonly V[]): Readonly<Record<string, unknown>> => {
    const row: Record<string, unknown> = { ...blank };
    for (let at = 0; at < columns.length; at += 1) row[columns[at] as string] = read(values[at] as V, at);
    return row;
  };
}
