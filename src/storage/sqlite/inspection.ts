import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { KeyEnvironment } from '../../accounts/api-key.ts';
import type { SqliteInspection } from './look.ts';

type Told = SqliteInspection | { readonly failure: string };

const look = new URL('./look.ts', import.meta.url).href;
const program = `
  import { lookAtSqlite } from ${JSON.stringify(look)};
  let told;
  try {
    told = lookAtSqlite(process.argv[1], process.argv[2]);
  } catch ({ message }) {
    told = { failure: message };
  }
  process.stdout.write(JSON.stringify(told));`;

/**
 * Looks at the file of a store (sqlite/look.ts) in a process of its own, as nothing else ends SQLite's work in time:
 * null where it takes longer than `msMax`. Throws Error with SQLite's words where the file is no database.
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
  const told: Told = printed === '' ? { failure: 'it cannot be looked at' } : JSON.parse(printed);
  if ('failure' in told) throw new Error(told.failure);
  return told;
}
