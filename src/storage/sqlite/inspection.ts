import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { KeyEnvironment } from '../../accounts/api-key.ts';
import type { SqliteInspection } from './look.ts';

type Report = SqliteInspection | { readonly failure: string };

const look = new URL('./look.ts', import.meta.url).href;
const program = `
  import { lookAtSqlite } from ${JSON.stringify(look)};
  let report;
  try {
    report = lookAtSqlite(process.argv[1], process.argv[2]);
  } catch ({ message }) {
    report = { failure: message };
  }
  process.stdout.write(JSON.stringify(report));`;

/**
 * Inspects the file of a store (sqlite/look.ts) in a child process, because only a kill stops SQLite in time. After
 * `msMax`, kills the process and returns null. Throws Error with SQLite's message if the file is not a database.
 */
export async function inspectSqlite(
  path: string,
  environment: KeyEnvironment,
  msMax: number,
): Promise<SqliteInspection | null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, '--', path, environment], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: msMax,
    killSignal: 'SIGKILL',
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (signal !== null) return null;
  const report: Report = printed === '' ? { failure: 'it cannot be read' } : JSON.parse(printed);
  if ('failure' in report) throw new Error(report.failure);
  return report;
}
