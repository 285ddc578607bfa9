import { copyFile, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../src/storage/open-database.ts';
import { afterTestRun, testRun } from './test-run.ts';

const templates = join(tmpdir(), `animal-store-test-${testRun}`);
const template = join(templates, 'store.db');

afterTestRun(removeSqliteTemplate);

/**
 * Creates a new SQLite store with the newest schema. It is a copy of one store, which the first call in a run
 * makes, with a secret of its own.
 */
export async function createSqliteStore(path: string): Promise<void> {
  const isMade = await stat(template).catch(() => null);
  if (isMade === null) await makeTemplate();
  await copyFile(template, path);
  using file = new DatabaseSync(path);
  // A migration draws the secret of a store, so that no other store takes its cursors and event ids.
  file.exec('pragma synchronous = off; update secrets set value = randomblob(32)');
}

/** Makes the store under another name first, because other processes may make it at the same time. */
async function makeTemplate(): Promise<void> {
  await mkdir(templates, { recursive: true });
  const folder = await mkdtemp(join(templates, 'new-'));
  await (await openDatabase(`sqlite:${join(folder, 'store.db')}`)).close();
  await rename(join(folder, 'store.db'), template);
}

export async function removeSqliteTemplate(): Promise<void> {
  await rm(templates, { recursive: true, force: true });
}
