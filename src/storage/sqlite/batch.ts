import type { TransactionList } from '../database.ts';
import type { SqliteConnection } from './connection.ts';
import { type PackedError, packError } from './packed-error.ts';
import { runSteps, type SqliteCall } from './statements.ts';

/** The write of one caller: a statement, or a transaction by its name. It can be sent to the writing thread. */
export type Job = SqliteCall | { readonly name: string; readonly input: unknown };

/** `result` is the rows of a statement, or the result of a transaction. It can be sent between threads. */
export type Outcome = { readonly result: unknown } | { readonly error: PackedError };

/**
 * Returns a function that runs jobs in one commit, and returns their outcomes when it is durable. A job that fails is
 * undone alone. Throws if the transaction fails or another connection has the lock; then nothing was done.
 */
export function createRunBatch(connection: SqliteConnection, transactions: TransactionList) {
  const { raw } = connection;

  function run(job: Job, openSavepoint: () => void): unknown {
    if ('sql' in job) return connection.run(job);
    const transaction = transactions[job.name];
    if (transaction === undefined) throw new Error(`this thread has no transaction "${job.name}"`);
    return runSteps(connection.run, transaction.body(job.input as never), openSavepoint);
  }

  function runAlone(job: Job): Outcome {
    let isInSavepoint = false;
    try {
      const result = run(job, () => {
        if (!isInSavepoint) connection.run(savepoint);
        isInSavepoint = true;
      });
      if (isInSavepoint) connection.run(release);
      return { result };
    } catch (error) {
      if (!raw.isTransaction) throw error;
      if (isInSavepoint) {
        connection.run(rollbackToSavepoint);
        connection.run(release);
      }
      return { error: packError(error) };
    }
  }

  return (jobs: readonly Job[]): readonly Outcome[] => {
    try {
      connection.requireInPlace();
      raw.exec('begin immediate');
      const outcomes = jobs.map(runAlone);
      raw.exec('commit');
      return outcomes;
    } catch (error) {
      undo(connection);
      throw error;
    }
  };
}

const savepoint: SqliteCall = { sql: 'savepoint job', values: [] };
const release: SqliteCall = { sql: 'release job', values: [] };
const rollbackToSavepoint: SqliteCall = { sql: 'rollback to job', values: [] };

/** Rolls back. If that fails, every later `begin`, and so every job, fails until a rollback succeeds. */
function undo({ raw }: SqliteConnection): void {
  try {
    // SQLite rolls back some failed transactions itself; a second rollback would be an error.
    if (raw.isOpen && raw.isTransaction) raw.exec('rollback');
  } catch {}
}
