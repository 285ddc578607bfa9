import assert from 'node:assert/strict';
import { existsSync, readlinkSync } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { makeFolder } from '../../support/service.ts';

const skip = existsSync('/proc/self/fd')
  ? false
  : 'SKIPPED: only /proc shows which file a descriptor belongs to';

/** Records each later sync of a folder, and whether the folder contained the store at that time. */
async function watchSyncs(t: TestContext, store: string) {
  const synced: { folder: string; holdsStore: boolean }[] = [];
  const handle = await open(import.meta.filename);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  t.mock.method(prototype, 'sync', function note(this: FileHandle) {
    synced.push({ folder: readlinkSync(`/proc/self/fd/${this.fd}`), holdsStore: existsSync(store) });
    return sync.call(this);
  });
  return synced;
}

test('the folder of a new store and the parents of new folders are synced', { skip }, async (t) => {
  const base = await realpath(await makeFolder(t));
  const [outer, inner] = [join(base, 'outer'), join(base, 'outer', 'inner')];
  const path = join(inner, 'store.db');
  const synced = await watchSyncs(t, path);
  const database = await openSqlite(path);
  t.after(() => database.close());
  assert.deepEqual(synced, [
    { folder: outer, holdsStore: false },
    { folder: base, holdsStore: false },
    { folder: inner, holdsStore: true },
  ]);
});

test('the folder of an existing store is not synced', { skip }, async (t) => {
  const folder = await realpath(await makeFolder(t));
  const path = join(folder, 'data', 'store.db');
  await mkdir(join(folder, 'data'));
  await (await openSqlite(path)).close();
  const synced = await watchSyncs(t, path);
  await (await openSqlite(path)).close();
  assert.deepEqual(synced, []);
});
