import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { isServed } from '../storage/sqlite/claim-serving.ts';
import { readSizes } from '../storage/sqlite/vacuum.ts';
import { type Content, readContent } from './store.ts';

/** The state of the file of a SQLite store. */
export interface SqliteInspection extends Content {
  /** True if a service serves the store now (claim-serving.ts). */
  readonly isServed: boolean;
  /** `ok`, or the first fault that SQLite's quick check found. */
  readonly integrity: string;
  /** The size of the file, and of its pages without content. */
  readonly bytes: number;
  readonly freeBytes: number;
}

const busyTimeoutMs = 2_000;

const program = `
  import { lookAtSqlite } from ${JSON.stringify(import.meta.url)};
  const report = await lookAtSqlite(process.argv[1], process.argv[2])
    .catch(({ message }) => ({ failure: message }));
  process.stdout.write(JSON.stringify(report));`;

/**
 * Inspects the file of a store in a child process, because only a kill stops SQLite in time. After `msMax`, kills the
 * process and returns null. Throws Error with SQLite's message if the file is not a database.
 */
export async function inspectSqlite(
  path: string,
  environment: string,
  msMax: number,
): Promise<SqliteInspection | null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, '--', path, environment], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: msMax,
    killSignal: 'SIGKILL',
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (signal !== null) return null;
  const report: SqliteInspection | { readonly failure: string } =
    printed === '' ? { failure: 'it cannot be read' } : JSON.parse(printed);
  if ('failure' in report) throw new Error(report.failure);
  return report;
}

/**
 * Inspects an existing store file and reads it completely. `environment` is the environment of the store's keys.
 * Blocks the thread. Throws SQLite's error if the file is not a database.
 */
export async function lookAtSqlite(path: string, environment: string): Promise<SqliteInspection> {
  for (;;) {
    if (hasLog(path))
      return inspect(path, environment, new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs }));
    // If the file changes while it is read, the result mixes two states. Then the file is read again.
    const before = identifyContents(path);
    const isAsBefore = () => !hasLog(path) && identifyContents(path) === before;
    try {
      const report = await inspect(path, environment, openUntouched(path));
      if (isAsBefore()) return report;
    } catch (error) {
      if (isAsBefore()) throw error;
    }
  }
}

function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}

function identifyContents(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

async function inspect(path: string, environment: string, store: DatabaseSync): Promise<SqliteInspection> {
  const list = async (sql: string) =>
    store
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  try {
    const content = await readContent(list, environment);
    const [integrity] = await list('pragma quick_check(1)');
    return { ...content, integrity: String(integrity), ...readSizes(store), isServed: isServed(path) };
  } finally {
    store.close();
  }
}

/**
 * Opens a file that has no `-wal` and is therefore complete. It is opened as immutable, because otherwise SQLite
 * would create its own files beside it and leave them there.
 */
function openUntouched(path: string): DatabaseSync {
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  return new DatabaseSync(address, { readOnly: true });
}
