import type { Database, Parameters, Statement, Steps } from '../../src/storage/database.ts';
import { openConnection } from '../../src/storage/sqlite/connection.ts';
import { runSteps } from '../../src/storage/sqlite/statements.ts';
import type { Ending } from './service.ts';

/** A statement that ran, with its parameters. */
export interface RecordedCall {
  readonly statement: Statement<Parameters, unknown>;
  readonly parameters: Parameters;
}

const ids = new Map<object, number>();

/** Names a statement with the values of its parameters. */
export function nameCall({ statement, parameters }: RecordedCall): string {
  const id = ids.get(statement) ?? ids.size;
  ids.set(statement, id);
  return [id, ...Object.values(parameters)].join();
}

/**
 * Returns a function that wraps the database at `url`, and notes every statement that runs, those of transactions too.
 * Transactions on SQLite then run on this thread, because the statements of its writing thread would not be seen.
 */
export function recordsCalls(test: Ending, url: string, note: (call: RecordedCall) => void) {
  function noteCall<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): void {
    note({ statement: statement as unknown as RecordedCall['statement'], parameters });
  }

  function* noteSteps<T>(body: Steps<T>): Steps<T> {
    let next = body.next([]);
    while (!next.done) {
      for (const { statement, parameters } of next.value) noteCall(statement, parameters);
      next = body.next(yield next.value);
    }
    return next.value;
  }

  return (database: Database): Database => {
    const { read, readAside, readNow, run } = database;
    return {
      ...database,
      read(statement, parameters) {
        noteCall(statement, parameters);
        return read(statement, parameters);
      },
      readAside(statement, parameters) {
        noteCall(statement, parameters);
        return readAside(statement, parameters);
      },
      readNow:
        readNow &&
        ((statement, parameters) => {
          noteCall(statement, parameters);
          return readNow(statement, parameters);
        }),
      run(statement, parameters) {
        noteCall(statement, parameters);
        return run(statement, parameters);
      },
      transact:
        database.engine === 'sqlite'
          ? transactsHere(test, url, noteSteps)
          : (work, input, accountId) =>
              database.transact({ ...work, body: (given) => noteSteps(work.body(given)) }, input, accountId),
    };
  };
}

function transactsHere(
  test: Ending,
  url: string,
  noteSteps: <T>(body: Steps<T>) => Steps<T>,
): Database['transact'] {
  const { raw, run, close } = openConnection(url.replace('sqlite:', ''), 5_000);
  test.after(close);
  return async (work, input) => {
    raw.exec('begin immediate');
    try {
      const result = runSteps(run, noteSteps(work.body(input)));
      raw.exec('commit');
      return result;
    } catch (error) {
      raw.exec('rollback');
      throw error;
    }
  };
}
