import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { compileStatement, createRowMaker, placeParameters } from '../compile.ts';
import type { Parameters, Statement, Step, Steps, Value } from '../database.ts';

/** The text of a statement and the values of its placeholders, in a form that can be sent to another thread. */
export interface SqliteCall {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Runs a statement and returns its rows. Throws SQLite's error. */
export type RunCall = (call: SqliteCall) => readonly unknown[];

/** Returns the call of a statement. */
export function toCall<P extends Parameters, R>(target: Statement<P, R>, parameters: P): SqliteCall {
  const { sql, names } = compileStatement(target, 'sqlite', parameters);
  return { sql, values: placeParameters(names, parameters) };
}

/** Creates the function that runs statements on a connection. It prepares each statement once. */
export function createRunCall(raw: DatabaseSync): RunCall {
  const prepared = new Map<string, (values: readonly Value[]) => readonly unknown[]>();

  function prepare(sql: string) {
    const statement = raw.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const makeRow = createRowMaker(
      statement.columns().map(({ name }) => name),
      (value: SQLOutputValue) => value,
    );
    const run = (values: readonly Value[]) =>
      (statement.all(...(values as SQLInputValue[])) as unknown as SQLOutputValue[][]).map(makeRow);
    prepared.set(sql, run);
    return run;
  }

  return ({ sql, values }) => (prepared.get(sql) ?? prepare(sql))(values);
}

/**
 * Runs a transaction body to its end. The caller begins and commits the transaction. Calls `beforeWrite` before each write
 * that the body may have to undo.
 */
export function runSteps<T>(run: RunCall, body: Steps<T>, beforeWrite: () => void = () => {}): T {
  let next = body.next([]);
  while (!next.done) {
    if (mayBeUndone(next.value)) beforeWrite();
    next = body.next(next.value.map(({ statement, parameters }) => run(toCall(statement, parameters))));
  }
  return next.value;
}

/** A write that ends its transaction, after reads alone, is undone by SQLite itself if it fails, with what its triggers wrote. */
function mayBeUndone(steps: readonly Step[]): boolean {
  const place = steps.findIndex(
    ({ statement, parameters }) => compileStatement(statement, 'sqlite', parameters).isWriting,
  );
  return place !== -1 && !(place === steps.length - 1 && steps[place]?.isLast);
}
