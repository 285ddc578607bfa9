import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Database } from '../../src/storage/database.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { holdPlace } from '../../src/storage/sqlite-place.ts';
import { insertWindow, selectSubjects } from '../contracts/window-rows.ts';
import { makeFolder } from '../support/service.ts';

const unavailable = { name: 'AppError', code: 'unavailable' };

async function openFile(t: TestContext) {
  const folder = join(await makeFolder(t), 'data');
  const path = join(folder, 'store.db');
  const database = await openSqlite(path);
  t.after(() => database.close());
  return { folder, path, database };
}

const add = (database: Database, subject: string) => database.run(insertWindow, { subject, used: 1n });

test('nothing is written to a file that was moved away, and all is again once it is back', async (t) => {
  const { folder, database } = await openFile(t);
  await add(database, 'before');
  await rename(folder, `${folder}-elsewhere`);
  await assert.rejects(add(database, 'meanwhile'), unavailable);
  await rename(`${folder}-elsewhere`, folder);
  await add(database, 'after');
  const kept = (await database.read(selectSubjects, {})).map(({ subject }) => subject);
  assert.deepEqual(kept, ['after', 'before']);
});

test('what was read before is still read from a file that was moved away', async (t) => {
  const { folder, database } = await openFile(t);
  await add(database, 'before');
  await rename(folder, `${folder}-elsewhere`);
  assert.equal((await database.read(selectSubjects, {})).length, 1);
});

for (const [what, end] of [
  ['the store', ''],
  ['its -wal', '-wal'],
] as const) {
  test(`nothing is written where ${what} was deleted`, async (t) => {
    const { path, database } = await openFile(t);
    await rm(path + end);
    await assert.rejects(add(database, 'a'), unavailable);
  });
}

for (const [what, end] of [
  ['the store', ''],
  ['its -wal', '-wal'],
] as const) {
  test(`nothing is written a second after another file was put in the place of ${what}, until the first is back`, async (t) => {
    const { path } = await openFile(t);
    const clock = { ms: 0 };
    t.mock.method(performance, 'now', () => clock.ms);
    const requireInPlace = holdPlace(path);
    await rename(path + end, `${path}-old`);
    await writeFile(path + end, '');
    clock.ms = 999;
    requireInPlace();
    clock.ms = 1_000;
    assert.throws(requireInPlace, unavailable);
    assert.throws(requireInPlace, unavailable);
    await rename(`${path}-old`, path + end);
    requireInPlace();
  });
}
