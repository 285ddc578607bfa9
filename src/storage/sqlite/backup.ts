import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError, reasonOf } from '../../errors.ts';
import { requireOneName } from './claim-serving.ts';
import { openReadOnly } from './connection.ts';

/**
 * Copies a snapshot of the store at `path` into an empty file, and checks the copy. Other connections may keep writing
 * to the store. Blocks the thread. SQLite syncs the copy, because Node's permission model forbids fsync. `pageBytes` is
 * the page size of the copy, that of the store by default. Throws OperatorError if the store cannot be read completely or
 * the copy cannot be written.
 */
export async function backupSqlite(path: string, file: string, pageBytes?: number): Promise<void> {
  await requireOneName(path);
  using store = openReadOnly(path);
  try {
    store.exec('pragma synchronous = full');
    if (pageBytes !== undefined) store.exec(`pragma page_size = ${pageBytes}`);
    store.prepare('vacuum into ?').run(file);
  } catch (error) {
    rmSync(`${file}-journal`, { force: true });
    throw new OperatorError(`the database ${path} cannot be copied: ${reasonOf(error)}`, { cause: error });
  }
  // If a service closes the store during the check, it must have the last connection, which makes the final checkpoint.
  store.close();
  checkWhole(file);
}

function checkWhole(file: string): void {
  // This connection is writable. On a read-only connection, SQLite would not check the constraints.
  using copy = new DatabaseSync(file);
  const verdict = copy.prepare('pragma integrity_check(1)').get()?.['integrity_check'];
  if (verdict !== 'ok') throw new OperatorError(`the copy is damaged: ${verdict}`);
}
