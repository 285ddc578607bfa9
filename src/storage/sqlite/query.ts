import { compileStatement, placeParameters } from '../compile.ts';
import type { Parameters, Statement, Steps } from '../database.ts';
import type { PreparedStatements, SqliteStatement } from './prepared.ts';

/** One insert adds at most 2 ** powerMax rows. One insert of 64 rows costs half as much as 64 inserts. */
const powerMax = 6;

const compiled = new WeakMap<object, SqliteStatement>();

/** Compiles a statement at the first call. Later calls return the same object. */
export function compileForSqlite<P extends Parameters, R>(target: Statement<P, R>): SqliteStatement {
  const known = compiled.get(target);
  if (known !== undefined) return known;
  const powers = target.buildRows === undefined ? [0] : Array.from({ length: powerMax + 1 }, (_, n) => n);
  const compilations = powers.map((power) => compileStatement(target, 'sqlite', 2 ** power));
  const statement = {
    names: compilations[0]?.names ?? [],
    texts: compilations.map(({ sql }) => sql),
  };
  compiled.set(target, statement);
  return statement;
}

/** Returns the rows of a statement. Throws SQLite's error. */
export function query<P extends Parameters, R>(
  connection: PreparedStatements,
  target: Statement<P, R>,
  parameters: P,
): readonly R[] {
  const statement = compileForSqlite(target);
  return connection.run(statement, placeParameters(statement.names, parameters)) as readonly R[];
}

/** Runs a transaction body to its end. The caller begins and commits the transaction. */
export function runSteps<T>(connection: PreparedStatements, work: Steps<T>): T {
  let next = work.next([]);
  while (!next.done)
    next = work.next(next.value.map(({ statement, parameters }) => query(connection, statement, parameters)));
  return next.value;
}
