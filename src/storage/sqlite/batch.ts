import type { TransactionList } from '../database.ts';
import type { SqliteConnection } from './connection.ts';
import { type PackedError, packError } from './packed-error.ts';
import { runSteps, type SqliteCall } from './statements.ts';

/** The write of one caller: a statement, or a transaction by its name. It can be sent to the writing thread. */
export type Write = SqliteCall | { readonly name: string; readonly input: unknown };

/** `result` is the rows of a statement, or the result of a transaction. It can be sent between threads. */
export type WriteResult = { readonly result: unknown } | { readonly error: PackedError };

/**
 * Returns a function that runs writes in one commit, and returns their results when it is durable. A write that fails is
 * undone alone. Throws if the transaction fails or another connection has the lock; then nothing was done.
 */
export function createRunBatch(connection: SqliteConnection, transactions: TransactionList) {
  const { raw } = connection;

  function run(write: Write, openSavepoint: () => void): unknown {
    if ('sql' in write) return connection.run(write);
    const transaction = transactions[write.name];
    if (transaction === undefined) throw new Error(`this thread has no transaction "${write.name}"`);
    return runSteps(connection.run, transaction.body(write.input as never), openSavepoint);
  }

  function runAlone(write: Write): WriteResult {
    let isInSavepoint = false;
    try {
      const result = run(write, () => {
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

  return (writes: readonly Write[]): readonly WriteResult[] => {
    try {
      connection.requireInPlace();
      raw.exec('begin immediate');
      const results = writes.map(runAlone);
      raw.exec('commit');
      return results;
    } catch (error) {
      undo(connection);
      throw error;
    }
  };
}

const savepoint: SqliteCall = { sql: 'savepoint write', values: [] };
const release: SqliteCall = { sql: 'release write', values: [] };
const rollbackToSavepoint: SqliteCall = { sql: 'rollback to write', values: [] };

/** Rolls back. If that fails, every later `begin`, and so every write, fails until a rollback succeeds. */
function undo({ raw }: SqliteConnection): void {
  try {
    // SQLite rolls back some failed transactions itself; a second rollback would be an error.
    if (raw.isOpen && raw.isTransaction) raw.exec('rollback');
  } catch {}
}
