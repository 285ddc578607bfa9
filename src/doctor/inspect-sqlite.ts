import { type ExecException, execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
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
  const args = ['--input-type=module', '--eval', program, '--', path, environment];
  const limits = { timeout: msMax, killSignal: 'SIGKILL' } as const;
  const printed = await promisify(execFile)(process.execPath, args, limits).catch((cause: ExecException) => {
    if (cause.killed) return null;
    throw new Error('it cannot be read', { cause });
  });
  if (printed === null) return null;
  const report: SqliteInspection | { readonly failure: string } = JSON.parse(printed.stdout);
  if ('failure' in report) throw new Error(report.failure);
  return report;
}

/**
 * Inspects an existing store file and reads it completely. `environment` is the environment of the store's keys.
 * Blocks the thread. Throws SQLite's error if the file is not a database.
 */
export async function lookAtSqlite(path: string, environment: string): Promise<SqliteInspection> {
  for (;;) {
    if (hasLog(path)) return inspect(path, environment, false);
    const before = identifyContents(path);
    const report = inspect(path, environment, true);
    await report.catch(() => undefined);
    // If the file changes while it is read, the result mixes two states. Then the file is read again.
    if (!hasLog(path) && identifyContents(path) === before) return report;
  }
}

function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}

function identifyContents(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/**
 * A file that has no `-wal` is complete. It is opened as immutable, because otherwise SQLite would create its own files
 * beside it and leave them there.
 */
async function inspect(path: string, environment: string, isComplete: boolean): Promise<SqliteInspection> {
  const address = pathToFileURL(path);
  if (isComplete) address.searchParams.set('immutable', '1');
  const store = new DatabaseSync(address, { readOnly: true, timeout: busyTimeoutMs });
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
