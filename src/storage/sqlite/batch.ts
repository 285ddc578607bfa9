import type { Transaction } from '../database.ts';
import { isBusy, isFault, type SqliteConnection } from './connection.ts';
import { runSteps, type SqliteCall } from './statements.ts';

/** The write of one caller: a statement, or a transaction by its name. It can be sent to the writing thread. */
export type Job = SqliteCall | { readonly name: string; readonly input: unknown };

/** `result` is the rows of a statement, or the result of a transaction. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** The transactions that a thread can run, by name. */
export type Transactions = ReadonlyMap<string, Transaction<never, unknown>>;

/** Runs jobs in one commit (createRunBatch). */
export type RunBatch = (jobs: readonly Job[]) => readonly Outcome[];

/**
 * Returns a function that runs jobs in order in one commit, and returns their outcomes when it is durable. A job that
 * fails is undone alone. If the commit fails, each job is repeated in a commit of its own. The function throws SQLite's
 * error if another connection has the lock; then nothing was done.
 */
export function createRunBatch(connection: SqliteConnection, transactions: Transactions): RunBatch {
  const { raw } = connection;

  function runJob(job: Job): unknown {
    if ('sql' in job) return connection.run(job);
    const transaction = transactions.get(job.name);
    if (transaction === undefined) throw new Error(`the list of transactions has no "${job.name}"`);
    return runSteps(connection.run, transaction.body(job.input as never));
  }

  /** A fault of the store ends the whole commit. */
  function runInSavepoint(job: Job): Outcome {
    connection.run(savepoint);
    try {
      const result = runJob(job);
      connection.run(release);
      return { result };
    } catch (error) {
      if (!raw.isTransaction || isFault(error)) throw error;
      connection.run(rollbackToSavepoint);
      connection.run(release);
      return { error };
    }
  }

  function commit(jobs: readonly Job[]): readonly Outcome[] {
    try {
      connection.requireInPlace();
      raw.exec('begin immediate');
      const outcomes = jobs.map(runInSavepoint);
      raw.exec('commit');
      return outcomes;
    } catch (error) {
      undo(connection);
      if (isBusy(error)) throw error;
      return jobs.length === 1 ? [{ error }] : jobs.flatMap(commitAlone);
    }
  }

  /** Earlier jobs may have been committed, so a lock error becomes the outcome of this job only. */
  function commitAlone(job: Job): readonly Outcome[] {
    try {
      return commit([job]);
    } catch (error) {
      return [{ error }];
    }
  }

  return commit;
}

const savepoint: SqliteCall = { sql: 'savepoint job', values: [] };
const release: SqliteCall = { sql: 'release job', values: [] };
const rollbackToSavepoint: SqliteCall = { sql: 'rollback to job', values: [] };

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
