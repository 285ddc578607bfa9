import { performance } from 'node:perf_hooks';
import { placeParameters } from '../compile.ts';
import type { Parameters, Statement, Transaction } from '../database.ts';
import { storeUnavailable } from '../store-unavailable.ts';
import type { Task } from './calls.ts';
import { createGroupCommit } from './group-commit.ts';
import { compileForSqlite } from './query.ts';
import type { WritingThread } from './start-thread.ts';

/** Writes to a store through its writing thread. */
export interface SqliteWriter {
  transact<I, T>(work: Transaction<I, T>, input: I): Promise<T>;
  run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;
  /** Ends the thread when all earlier writes are settled. Later writes fail with `unavailable`. */
  close(): Promise<void>;
}

/**
 * Creates a writer that writes in the order of the calls. Writes that arrive during a commit share the next commit.
 */
export function createSqliteWriter(thread: WritingThread): SqliteWriter {
  const commits = createGroupCommit(thread);
  let isClosed = false;

  function queue<T>(task: Task): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (isClosed) throw storeUnavailable(new Error('the database is closed'));
      commits.add({ task, queuedAtMs: performance.now(), resolve, reject });
    });
  }

  return {
    transact: (work, input) => queue({ work, input } as Task),
    run(target, parameters) {
      const statement = compileForSqlite(target);
      return queue({ statement, values: placeParameters(statement.names, parameters) });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await commits.drain();
      await thread.close();
    },
  };
}
