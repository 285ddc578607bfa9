import type { Value } from '../database.ts';
import { isBusy, isFault, type SqliteConnection } from './connection.ts';
import { isAdding, type SqliteStatement } from './prepared.ts';

/** What is to be written: a work for one job, or a statement for each of some jobs, with the values of all of them. */
export type Call =
  | { readonly work: (connection: SqliteConnection) => unknown }
  | { readonly statement: SqliteStatement; readonly values: readonly Value[] };

/** What became of a job: the result of its work, the rows of its statement, or the id of the row that it added. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Runs calls in one transaction, in their order, and gives the outcome of each job once it is durable. A job that
 * fails is undone alone. If the transaction itself fails, each job runs again in a transaction of its own. Throws
 * SQLite's error, with nothing done, if another connection has the lock.
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

/** Others were run before it, so that it could not begin is its own outcome. */
function runAlone(connection: SqliteConnection, job: Call): readonly Outcome[] {
  try {
    return runBatch(connection, [job]);
  } catch (error) {
    return [{ error }];
  }
}

/** Runs a call so that, if it fails, only what it did is undone. A fault of the store ends the whole transaction. */
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

/** The values of each job; a statement without values stands for one job. */
function listRows({ statement, values }: Extract<Call, { statement: unknown }>): (readonly Value[])[] {
  const width = statement.names.length;
  if (width === 0) return [values];
  const rows: (readonly Value[])[] = [];
  for (let at = 0; at < values.length; at += width) rows.push(values.slice(at, at + width));
  return rows;
}

/** If even this fails, `begin` fails from then on: each job is refused until the transaction can be undone. */
function undo({ raw }: SqliteConnection): void {
  try {
    // SQLite ends some failed transactions by itself, and a second rollback would be an error.
    if (raw.isOpen && raw.isTransaction) raw.exec('rollback');
  } catch {}
}
