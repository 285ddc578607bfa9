import type { Value } from '../database.ts';
import { isBusy, isFault, type SqliteConnection } from './connection.ts';
import { isAdding, type SqliteStatement } from './prepared.ts';

/** A write. Either a transaction body of one job, or one statement with the values of several jobs. */
export type Call =
  | { readonly work: (connection: SqliteConnection) => unknown }
  | { readonly statement: SqliteStatement; readonly values: readonly Value[] };

/**
 * The outcome of a job. `result` is the result of its transaction body, the rows of its statement, or the id of the
 * row that it added.
 */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Runs calls in order in one transaction, and returns the outcome of each job when the transaction is durable. If a
 * job fails, only that job is rolled back. If the transaction itself fails, each job is repeated in its own
 * transaction. Throws SQLite's error if another connection has the lock; then nothing was done.
 */
export function runBatch(connection: SqliteConnection, calls: readonly Call[]): readonly Outcome[] {
  const { raw } = connection;
  try {
    connection.requireInPlace();
    raw.exec('begin immediate');
    const outcomes =
      calls.length === 1 && calls[0] !== undefined && countJobs(calls[0]) === 1
        ? run(connection, calls[0])
        : calls.flatMap((call) => runIsolated(connection, call));
    raw.exec('commit');
    return outcomes;
  } catch (error) {
    undo(connection);
    if (isBusy(error)) throw error;
    const jobs = calls.flatMap(split);
    return jobs.length === 1 ? [{ error }] : jobs.flatMap((job) => runAlone(connection, job));
  }
}

/** Runs one job. Earlier jobs may have been committed, so a lock error becomes the outcome of this job only. */
function runAlone(connection: SqliteConnection, job: Call): readonly Outcome[] {
  try {
    return runBatch(connection, [job]);
  } catch (error) {
    return [{ error }];
  }
}

/**
 * Runs a call inside a savepoint, so that a failure rolls back only that call. A fault of the store ends the whole
 * transaction.
 */
function runIsolated(connection: SqliteConnection, call: Call): readonly Outcome[] {
  const { raw } = connection;
  raw.exec('savepoint call');
  try {
    const outcomes = run(connection, call);
    raw.exec('release call');
    return outcomes;
  } catch (error) {
    if (!raw.isTransaction || isFault(error)) throw error;
    raw.exec('rollback to call; release call');
    const jobs = split(call);
    return jobs.length === 1 ? [{ error }] : jobs.flatMap((job) => runIsolated(connection, job));
  }
}

function run(connection: SqliteConnection, call: Call): readonly Outcome[] {
  if ('work' in call) return [{ result: call.work(connection) }];
  const { statement, values } = call;
  if (isAdding(statement)) return connection.addRows(statement, values).map((result) => ({ result }));
  return listRows(call).map((row) => ({ result: connection.run(statement, row) }));
}

function split(call: Call): Call[] {
  if ('work' in call) return [call];
  return listRows(call).map((values) => ({ statement: call.statement, values }));
}

function countJobs(call: Call): number {
  return 'work' in call ? 1 : listRows(call).length;
}

/** Returns the values of each job. A statement without parameters is one job. */
function listRows({ statement, values }: Extract<Call, { statement: unknown }>): (readonly Value[])[] {
  const width = statement.names.length;
  if (width === 0) return [values];
  const rows: (readonly Value[])[] = [];
  for (let at = 0; at < values.length; at += width) rows.push(values.slice(at, at + width));
  return rows;
}

/**
 * Rolls back the transaction. If the rollback fails, every later `begin`, and so every job, fails until a rollback
 * succeeds.
 */
function undo({ raw }: SqliteConnection): void {
  try {
    // SQLite rolls back some failed transactions itself; a second rollback would be an error.
    if (raw.isOpen && raw.isTransaction) raw.exec('rollback');
  } catch {}
}
