import type {
  DatabaseSync,
  SQLInputValue,
  SQLOutputValue,
  StatementResultingChanges,
  StatementSync,
} from 'node:sqlite';
import type { Value } from '../database.ts';

/** A statement for SQLite, in a form that can be sent to another thread. */
export interface SqliteStatement {
  /** The parameter names of one row, in the order of the placeholders. */
  readonly names: readonly string[];
  /** The text at index `n` adds 2 ** n rows at once. A statement that adds no rows has one text. */
  readonly texts: readonly string[];
}

/** The prepared statements of a connection. */
export interface PreparedStatements {
  /** Runs a statement with the values of its placeholders and returns its rows. Throws SQLite's error. */
  run(statement: SqliteStatement, values: readonly Value[]): readonly unknown[];
  /** Adds rows inside a transaction and returns their ids in the same order. */
  addRows(statement: SqliteStatement, values: readonly Value[]): bigint[];
}

/**
 * Matches the clause that is removed from an insert. SQLite also returns the id without the clause, at less than half
 * the cost.
 */
const returningId = / returning "id"$/;

/** Creates the prepared statements of a connection. Each statement is prepared at its first use. */
export function createPreparedStatements(raw: DatabaseSync): PreparedStatements {
  const runs = new Map<SqliteStatement, (values: readonly Value[]) => readonly unknown[]>();
  const adds = new Map<SqliteStatement, StatementSync[]>();

  function prepare(sql: string): StatementSync {
    const statement = raw.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  }

  function findRun(target: SqliteStatement) {
    const known = runs.get(target);
    if (known !== undefined) return known;
    const run = isAdding(target)
      ? (values: readonly Value[]) => addRows(target, values).map((id) => ({ id }))
      : createRun(prepare(target.texts[0] ?? ''));
    runs.set(target, run);
    return run;
  }

  function addRows(target: SqliteStatement, values: readonly Value[]): bigint[] {
    const prepared = adds.get(target) ?? [];
    if (prepared.length === 0) adds.set(target, prepared);
    const width = target.names.length;
    const ids: bigint[] = [];
    while (ids.length * width < values.length) {
      const power = Math.min(target.texts.length - 1, 31 - Math.clz32(values.length / width - ids.length));
      prepared[power] ??= prepare((target.texts[power] ?? '').replace(returningId, ''));
      const rows = 2 ** power;
      const placed = values.slice(ids.length * width, (ids.length + rows) * width);
      appendIds(ids, prepared[power].run(...(placed as SQLInputValue[])), BigInt(rows));
    }
    return ids;
  }

  return {
    run: (statement, values) => findRun(statement)(values),
    addRows,
  };
}

/** Returns true if a statement adds rows and returns their ids. */
export function isAdding({ texts }: SqliteStatement): boolean {
  return texts.length > 1;
}

function createRun(statement: StatementSync) {
  const makeRow = createRowMaker(statement.columns().map(({ name }) => name));
  return (values: readonly Value[]) =>
    (statement.all(...(values as SQLInputValue[])) as unknown as SQLOutputValue[][]).map(makeRow);
}

/**
 * Returns a function that turns the column values of a row into an object. All objects have the same shape. Node's
 * own row objects have no common shape, and reading a page of them takes twice as long.
 */
function createRowMaker(columns: readonly string[]) {
  const blank: Readonly<Record<string, SQLOutputValue>> = Object.fromEntries(
    columns.map((column) => [column, null]),
  );
  return (values: readonly SQLOutputValue[]) => {
    const row = { ...blank };
    for (let at = 0; at < columns.length; at += 1) row[columns[at] as string] = values[at] as SQLOutputValue;
    return row;
  };
}

/**
 * Appends the ids of the rows that one statement added. The ids are consecutive and in the order of the rows. Throws
 * if an operator's own trigger skipped rows, because the ids could not be matched to the rows then.
 */
function appendIds(
  ids: bigint[],
  { changes, lastInsertRowid }: StatementResultingChanges,
  rows: bigint,
): void {
  if (changes !== rows) throw new Error(`${changes} of ${rows} rows were added: a trigger left some out`);
  const lastId = BigInt(lastInsertRowid);
  for (let id = lastId - rows + 1n; id <= lastId; id += 1n) ids.push(id);
}
