import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { compileStatement } from '../../../src/storage/compile.ts';
import { selectSubjects, unavailable } from '../../contracts/window-rows.ts';
import { openStore, sqliteEngine } from '../../support/engines.ts';

test('a read aside never runs on the thread that asks for it', async (t) => {
  const { database } = await openStore(t, sqliteEngine);
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare');
  assert.deepEqual(await database.readAside(selectSubjects, {}), []);
  const { sql } = compileStatement(selectSubjects, 'sqlite', {});
  const prepared = prepare.mock.calls.map(({ arguments: [text] }) => text);
  assert.ok(!prepared.includes(sql));
});

test('a read aside is refused as unavailable only while its file cannot be opened', async (t) => {
  const { store, database } = await openStore(t, sqliteEngine);
  const path = store.url.replace('sqlite:', '');
  await rename(path, `${path}.away`);
  await assert.rejects(database.readAside(selectSubjects, {}), unavailable);
  await rename(`${path}.away`, path);
  assert.deepEqual(await database.readAside(selectSubjects, {}), []);
});
