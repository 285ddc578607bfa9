import { compileStatement } from '../../src/storage/compile.ts';
import { type Database, type Step, type Steps, step } from '../../src/storage/database.ts';

/** What the statements of loads do, by the plans of the engine. */
interface Work {
  readonly statements: string[];
  /** On SQLite: the scans of a table or a subquery that run once for each row of another. */
  readonly repeatedScans: string[];
  /** On PostgreSQL: the number of rows that all nodes of the plans have read. */
  rowsRead: number;
}

/** Returns the database with a `load` that explains each statement, on its connection, right before it runs. */
export function explainLoads(database: Database) {
  let work: Work = { statements: [], repeatedScans: [], rowsRead: 0 };

  function* explainSteps<T>(body: Steps<T>): Steps<T> {
    let next = body.next([]);
    while (!next.done) {
      const steps = next.value;
      for (const [at, plan] of (yield steps.map(explain)).entries()) note(steps[at] as Step, plan);
      next = body.next(yield steps);
    }
    return next.value;
  }

  function explain({ statement, parameters }: Step): Step {
    const { engine } = database;
    const prefix = engine === 'sqlite' ? 'explain query plan' : 'explain (analyze, timing off, format json)';
    const build: Step['statement']['build'] = (...given) => {
      const compiled = statement.build(...given).compile();
      return { compile: () => ({ ...compiled, sql: `${prefix} ${compiled.sql}` }) };
    };
    return step({ ...statement, build }, parameters);
  }

  function note({ statement, parameters }: Step, plan: readonly unknown[]): void {
    work.statements.push(compileStatement(statement, database.engine, parameters).sql);
    if (database.engine === 'sqlite') work.repeatedScans.push(...findRepeatedScans(plan as SqliteRow[]));
    else work.rowsRead += countRows(readPostgresPlan(plan));
  }

  const explaining: Database = {
    ...database,
    load: (table, columns, batches, { check, apply }) =>
      database.load(table, columns, batches, {
        check: () => explainSteps(check()),
        apply: apply && (() => explainSteps(apply())),
      }),
  };
  return {
    database: explaining,
    take(): Work {
      const taken = work;
      work = { statements: [], repeatedScans: [], rowsRead: 0 };
      return taken;
    },
  };
}

interface SqliteRow {
  readonly id: bigint;
  readonly parent: bigint;
  readonly detail: string;
}

/** Of the loops of a join, only the first runs once. The loops of a correlated subquery run for each row. */
function findRepeatedScans(rows: readonly SqliteRow[]): string[] {
  const isLoop = ({ detail }: SqliteRow) => /^(?:SCAN|SEARCH) /.test(detail);
  return rows
    .filter((row) => {
      const parent = rows.find(({ id }) => id === row.parent);
      const first = rows.find((other) => isLoop(other) && other.parent === row.parent);
      const runsOnce = row === first && parent?.detail.startsWith('CORRELATED') !== true;
      return row.detail.startsWith('SCAN ') && !runsOnce;
    })
    .map(({ detail }) => detail);
}

interface PostgresNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PostgresNode[];
}

function readPostgresPlan([row]: readonly unknown[]): PostgresNode {
  const { 'QUERY PLAN': text } = row as { 'QUERY PLAN': unknown };
  const [{ Plan }] = typeof text === 'string' ? JSON.parse(text) : text;
  return Plan;
}

function countRows(node: PostgresNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = (node['Actual Rows'] + removed) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, child) => sum + countRows(child), own);
}
