import {
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementResultingChanges,
} from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Soon } from '../../soon.ts';
import { compileStatement, placeParameters } from '../compile.ts';
import type { Parameters, Statement, Value } from '../database.ts';
import { toOpeningError } from '../opening-error.ts';
import { storeUnavailable } from '../store-unavailable.ts';
import { holdPlace } from './place.ts';

/** One connection with the statements that it has prepared. */
export interface SqliteConnection {
  readonly raw: DatabaseSync;
  /** Throws AppError `unavailable` where the file is not at its place any more (sqlite/place.ts). */
  requireInPlace(): void;
  /** The rows of a statement; throws what SQLite throws. */
  query<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): readonly R[];
  /** The same for each of several parameters, inside a transaction; rows to be added go in by many at once. */
  queryEach<P extends Parameters, R>(statement: Statement<P, R>, each: readonly P[]): (readonly R[])[];
  close(): void;
}

interface Prepared {
  readonly names: readonly string[];
  run(values: readonly SQLInputValue[]): readonly unknown[];
}

/** What asks for the id of an added row. SQLite tells it by itself, at less than half of the cost. */
const returningId = / returning "id"$/;
/** How many rows are added at once, a power of two: each costs half of what it does by itself. */
const rowsAtOnceMax = 64;

/** How long an opening, a load or a copy waits for others that write; a load of millions keeps the lock for seconds. */
export const lockWaitMsMax = 30_000;

/**
 * Opens a file with the settings that keep its promises: a commit is on disk before it returns (WAL with
 * `synchronous=FULL`) and references hold. A connection waits `busyTimeoutMs` for a lock of another process, and its
 * whole thread waits with it.
 */
export function openConnection(path: string, busyTimeoutMs: number): SqliteConnection {
  const raw = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    raw.exec('pragma journal_mode = wal; pragma synchronous = full;');
  } catch (error) {
    raw.close();
    throw error;
  }
  /** By statement, then by the number of rows that it adds at once. */
  const prepared = new Map<unknown, Prepared[]>();

  function prepare<P extends Parameters, R>(target: Statement<P, R>, rows: number): Prepared {
    const { sql, names } = compileStatement(target, 'sqlite', rows);
    const isAdding = target.buildRows !== undefined;
    const statement = raw.prepare(isAdding ? sql.replace(returningId, '') : sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const makeRow = createRowMaker(statement.columns().map(({ name }) => name));
    const run: Prepared['run'] = isAdding
      ? (values) => numberRows(statement.run(...values), BigInt(rows))
      : (values) => (statement.all(...values) as unknown[] as SQLOutputValue[][]).map(makeRow);
    return { names, run };
  }

  function findPrepared<P extends Parameters, R>(target: Statement<P, R>, rows: number): Prepared {
    const known = prepared.get(target) ?? [];
    if (known.length === 0) prepared.set(target, known);
    known[rows] ??= prepare(target, rows);
    return known[rows];
  }

  function query<P extends Parameters, R>(target: Statement<P, R>, parameters: P): readonly R[] {
    const { names, run } = findPrepared(target, 1);
    return run(placeParameters(names, parameters)) as readonly R[];
  }

  function addRows<P extends Parameters, R>(target: Statement<P, R>, rows: readonly P[]): readonly R[] {
    const { names, run } = findPrepared(target, rows.length);
    const values: Value[] = [];
    for (const row of rows) placeParameters(names, row, values);
    return run(values) as readonly R[];
  }

  return {
    raw,
    requireInPlace: holdPlace(path),
    query,
    queryEach<P extends Parameters, R>(target: Statement<P, R>, each: readonly P[]) {
      if (target.buildRows === undefined || each.length === 1)
        return each.map((parameters) => query(target, parameters));
      const results: (readonly R[])[] = [];
      while (results.length < each.length) {
        const end = results.length + countAtOnce(each.length - results.length);
        for (const row of addRows(target, each.slice(results.length, end))) results.push([row]);
      }
      return results;
    },
    close: () => {
      if (raw.isOpen) raw.close();
    },
  };
}

/**
 * Makes rows out of the values of their columns, all of one shape. The objects that SQLite would make are dictionaries: a page
 * of them takes twice as long to be read.
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

/** The greatest power of two among those that are left, so that few statements serve every number. */
function countAtOnce(left: number): number {
  return left >= rowsAtOnceMax ? rowsAtOnceMax : 2 ** (31 - Math.clz32(left));
}

/**
 * The ids of the rows that one statement added: one after the other, as the statement adds them in their order and no
 * trigger adds any. An operator's own trigger may leave rows out; then nobody knows whose id is whose.
 */
function numberRows({ changes, lastInsertRowid }: StatementResultingChanges, rows: bigint): { id: bigint }[] {
  if (changes !== rows) throw new Error(`of ${rows} rows ${changes} were added: a trigger left some out`);
  const lastId = BigInt(lastInsertRowid);
  const ids: { id: bigint }[] = [];
  for (let id = lastId - rows + 1n; id <= lastId; id += 1n) ids.push({ id });
  return ids;
}

/** Opens a file that is there to be read and not changed. Throws OperatorError where it cannot be opened. */
export function openReadOnly(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly: true, timeout: lockWaitMsMax });
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

const busyCode = 5;
/** Permission, busy, locked, no memory, read-only, I/O, corrupt, full, cannot open, not a database. */
const faultCodes = new Set([3, busyCode, 6, 7, 8, 10, 11, 13, 14, 26]);

function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Whether another connection, of this process or another, holds the lock that a statement wanted. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busyCode;
}

const pauseMs = 5;

/**
 * Makes an attempt again while another connection holds the lock that it wants, for up to `waitMsMax`. The thread is
 * free between the attempts: the connection that it waits for may be its own.
 */
export async function repeatWhileBusy<T>(attempt: () => Soon<T>, waitMsMax: number): Promise<T> {
  const lastAtMs = performance.now() + waitMsMax;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= lastAtMs) throw error;
    }
    await setTimeout(pauseMs);
  }
}

/**
 * What a caller may know of a fault of the store, or of one that has been closed: AppError `unavailable`. Any other
 * error is passed on as it is.
 */
export function toStorageError(error: unknown): unknown {
  const code = primaryCode(error);
  const isFault = code === undefined ? isClosed(error) : faultCodes.has(code);
  return isFault ? storeUnavailable(error) : error;
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
}
