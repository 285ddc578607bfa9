import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { int64Max } from '../../../src/int64.ts';
import { insertPet, selectPet } from '../../../src/pets/pet-rows.ts';
import { lastStep, statement, step, transaction } from '../../../src/storage/database.ts';
import { createRunBatch, type Write } from '../../../src/storage/sqlite/batch.ts';
import { openConnection } from '../../../src/storage/sqlite/connection.ts';
import { toCall } from '../../../src/storage/sqlite/statements.ts';
import { addAndThrow, addSecret } from '../../contracts/works.ts';
import { petValues } from '../../support/catalogue.ts';
import { makeFolder } from '../../support/service.ts';
import { createSqliteStore } from '../../support/sqlite-files.ts';

async function open(t: TestContext) {
  const path = join(await makeFolder(t), 'store.db');
  await createSqliteStore(path);
  const connection = openConnection(path, 0);
  t.after(() => connection.close());
  const runBatch = createRunBatch(connection, { addAndThrow, addSecret, addTwo, lookAndAddTwo });
  /** Returns the first value of the first row of each write. */
  const run = (...writes: readonly Write[]) =>
    runBatch(writes).map((outcome) => {
      if ('error' in outcome) return 'failed';
      const [row] = (outcome.result ?? []) as readonly object[];
      return row === undefined ? 'done' : Object.values(row)[0];
    });
  const count = (table: string) => connection.raw.prepare(`select * from ${table}`).all().length;
  return { raw: connection.raw, run, count };
}

const add = toCall(insertPet, petValues());
const refused = toCall(insertPet, petValues({ status: 'lost' }));
const failing = {
  name: addAndThrow.name,
  input: { subject: 'b', used: 1n, name: 'AppError', message: 'no' },
};

test('a write that fails in a batch is undone alone', async (t) => {
  const { run, count } = await open(t);
  assert.deepEqual(run(add, failing, refused, add), [1n, 'failed', 'failed', 2n]);
  assert.equal(count('usage_windows'), 0);
});

test('a batch is one commit, even if writes of it fail', async (t) => {
  const { raw, run } = await open(t);
  const exec = t.mock.method(raw, 'exec');
  run(add, failing, refused, add);
  const asked = exec.mock.calls.map(({ arguments: [sql] }) => sql);
  assert.deepEqual(asked, ['begin immediate', 'commit']);
});

/** Inserts an animal, which its trigger adds to the feed, and then one that is refused. */
const insertTwo = statement((query) =>
  query
    .insertInto('pets')
    .columns(['name', 'category_id', 'status', 'is_owned'])
    .expression(sql`values ('Rex', 1, 'available', 0), ('Max', 1, 'lost', 0)`),
);
const addTwo = transaction('addTwo', 'serializable', function* (_input: null) {
  yield* lastStep(insertTwo, {});
});

/** Reads, then writes once with its last statement. */
const lookAndAddTwo = transaction('lookAndAddTwo', 'serializable', function* (_input: null) {
  yield* step(selectPet, { id: 1n });
  yield* lastStep(insertTwo, {});
});

const oneWrite = [
  ['a statement', toCall(insertTwo, {})],
  ['a transaction of one statement', { name: addTwo.name, input: null }],
  ['a transaction that writes only with its last statement', { name: lookAndAddTwo.name, input: null }],
] as const;

for (const [what, write] of oneWrite)
  test(`${what} that fails in a batch leaves nothing behind`, async (t) => {
    const { run, count } = await open(t);
    assert.deepEqual(run(add, write, add), [1n, 'failed', 2n]);
    assert.equal(count('events'), 2);
  });

test('a write whose only write is its last statement opens no savepoint', async (t) => {
  const { raw, run } = await open(t);
  const prepare = t.mock.method(raw, 'prepare');
  run(...oneWrite.map(([, write]) => write));
  assert.ok(prepare.mock.calls.every(({ arguments: [sql] }) => !sql.startsWith('savepoint')));
});

test('if ids run out, only the rows that get no id are refused', async (t) => {
  const { raw, run } = await open(t);
  raw.exec(`insert into pets values (${int64Max - 2n}, 'Max', 1, 'sold', 0)`);
  assert.deepEqual(run(add, add, add, add), [int64Max - 1n, int64Max, 'failed', 'failed']);
});

test('whole batches fail only while the disk is full', async (t) => {
  const { raw, run, count } = await open(t);
  const large = { name: addSecret.name, input: { name: 'large', value: new Uint8Array(1e6) } };
  const pages = raw.prepare('pragma page_count').get()?.['page_count'];
  raw.exec(`pragma max_page_count = ${pages}`);
  assert.throws(() => run(add, large), /disk is full/);
  assert.equal(count('pets'), 0);

  raw.exec('pragma max_page_count = 100000');
  assert.deepEqual(run(large), ['done']);
});

test('writes succeed again after a transaction that could not be rolled back', async (t) => {
  const { raw, run } = await open(t);
  const exec = t.mock.method(raw, 'exec', (sql: string) => {
    if (sql === 'commit' || sql === 'rollback') throw new Error('out of memory');
    return DatabaseSync.prototype.exec.call(raw, sql);
  });
  assert.throws(() => run(add, add), /out of memory/);
  exec.mock.restore();
  assert.throws(() => run(add), /within a transaction/);
  assert.deepEqual(run(add), [1n]);
});
