import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../errors.ts';
import { openReadOnly } from './connection.ts';
import { requireOneName } from './one-name.ts';

/**
 * Copies the store in the file at `path`, as it is at one moment, into an empty file, and checks that the copy is
 * whole. Others may go on writing to the store; the copy is compact and one file by itself. Holds the thread
 * meanwhile, and does not wait for the disk. Throws OperatorError where the store cannot be read whole, or the copy
 * cannot be written.
 */
export function backupSqlite(path: string, file: string): void {
  requireOneName(path);
  const store = openReadOnly(path);
  try {
    store.prepare('vacuum into ?').run(file);
  } catch (error) {
    rmSync(`${file}-journal`, { force: true });
    throw new OperatorError(`the database ${path} cannot be copied: ${messageOf(error)}`, { cause: error });
  } finally {
    store.close();
  }
  checkWhole(file);
}

function checkWhole(file: string): void {
  // Over a connection that is read-only SQLite would not check the rules of the tables.
  const copy = new DatabaseSync(file);
  try {
    const verdict = copy.prepare('pragma integrity_check(1)').get()?.['integrity_check'];
    if (verdict !== 'ok') throw new OperatorError(`the copy is not whole: ${verdict}`);
  } finally {
    copy.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
