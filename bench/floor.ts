import type { SQLInputValue } from 'node:sqlite';
import type { Steps } from '../src/storage/database.ts';
import { openConnection } from '../src/storage/sqlite/connection.ts';
import { runSteps, type SqliteCall } from '../src/storage/sqlite/statements.ts';
import type { Plan } from './entrant.ts';
import type { Scenario } from './scenarios.ts';
import { copyStore } from './store.ts';

const jobsPerCommit = 64;
const jobsPerRound = 3_200;

/**
 * Measures SQLite alone: the CPU time per request of a scenario in microseconds, in the cheapest round. The transactions
 * of the store run once, to record their statements. On another copy of the store, only these statements run again, 64
 * requests in each commit. Null if the scenario has no `toSteps`, or if the
 * store is too small for two rounds.
 */
export function measureSqlite(
  { toSteps, requests }: Scenario,
  { folder, store, walk, rounds }: Plan,
): number | null {
  if (toSteps === undefined) return null;
  const all = requests(walk);
  const count = Math.min((rounds + 1) * jobsPerRound, all.length === 1 ? Infinity : all.length);
  const toBody = (_: unknown, index: number) => toSteps(all[index % all.length] as never, store.keyId);
  const bodies = Array.from({ length: count }, toBody);
  const jobs = recordCalls(copyStore(store, folder, 'recorded'), bodies);
  const measured = replay(copyStore(store, folder, 'sqlite'), jobs).slice(1);
  return measured.length === 0 ? null : Math.min(...measured);
}

/** Runs transactions and returns the statements of each. */
function recordCalls(file: string, bodies: readonly Steps<unknown>[]): SqliteCall[][] {
  const connection = openConnection(file, 0);
  const jobs: SqliteCall[][] = [];
  for (const batch of inParts(bodies, jobsPerCommit)) {
    connection.raw.exec('begin immediate');
    for (const body of batch) {
      const calls: SqliteCall[] = [];
      const run = (call: SqliteCall) => {
        calls.push(call);
        return connection.run(call);
      };
      runSteps(run, body);
      jobs.push(calls);
    }
    connection.raw.exec('commit');
  }
  connection.close();
  return jobs;
}

/** Runs the statements of jobs. Returns the CPU time per job of each round, in microseconds. */
function replay(file: string, jobs: readonly (readonly SqliteCall[])[]): number[] {
  const { raw, close } = openConnection(file, 0);
  const statements = new Map(
    [...new Set(jobs.flat().map(({ sql }) => sql))].map((sql) => {
      const statement = raw.prepare(sql);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      return [sql, statement] as const;
    }),
  );
  const rounds = inParts(jobs, jobsPerRound).map((round) => {
    const before = process.cpuUsage();
    for (const batch of inParts(round, jobsPerCommit)) {
      raw.exec('begin immediate');
      for (const { sql, values } of batch.flat())
        statements.get(sql)?.all(...(values as readonly SQLInputValue[]));
      raw.exec('commit');
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / round.length;
  });
  close();
  return rounds;
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  const parts = Math.ceil(items.length / size);
  return Array.from({ length: parts }, (_, index) => items.slice(index * size, (index + 1) * size));
}
