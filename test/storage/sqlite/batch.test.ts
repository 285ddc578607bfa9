import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { int64Max } from '../../../src/int64.ts';
import { insertPet } from '../../../src/pets/pet-rows.ts';
import type { Transaction } from '../../../src/storage/database.ts';
import { createRunBatch, type Job, type Outcome } from '../../../src/storage/sqlite/batch.ts';
import { openConnection } from '../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { toCall } from '../../../src/storage/sqlite/statements.ts';
import { insertWindow } from '../../contracts/window-rows.ts';
import { addAndThrow, addSecret, addWindows } from '../../contracts/works.ts';
import { petValues } from '../../support/catalogue.ts';
import { makeFolder } from '../../support/service.ts';

/** Opens a connection to a new store and counts its commits and rollbacks. */
async function open(t: TestContext) {
  const path = join(await makeFolder(t), 'store.db');
  await (await openSqlite(path)).close();
  const connection = openConnection(path, 0);
  t.after(() => connection.close());
  const asked = { commit: 0, rollback: 0 };
  const exec = connection.raw.exec.bind(connection.raw);
  t.mock.method(connection.raw, 'exec', (sql: string) => {
    if (sql === 'commit' || sql === 'rollback') asked[sql] += 1;
    exec(sql);
  });
  const list = (sql: string) => connection.raw.prepare(sql).all();
  return { connection, runBatch: createRunBatch(connection), asked, list };
}

const add = (...names: readonly string[]) =>
  names.map((name) => toCall(insertPet, petValues({ ...pet, name })));
const addWindow = (...subjects: readonly string[]) =>
  subjects.map((subject) => toCall(insertWindow, { subject, used: 1n }));

function transact<I>({ name }: Transaction<I, unknown>, input: I): Job {
  return { name, input };
}

/** Describes the rows of each job by their first value. */
function describe(outcomes: readonly Outcome[]) {
  return outcomes.map((outcome) => {
    if ('error' in outcome) return 'failed';
    const [row] = (outcome.result ?? []) as readonly object[];
    return row === undefined ? 'done' : Object.values(row)[0];
  });
}

const pet = { name: 'Rex', categoryId: 1n, status: 'available' };
const failing = transact(addAndThrow, { subject: 'b', used: 1n, name: 'AppError', message: 'no' });

test('a batch is one commit, returns the outcome of each job in order, and undoes a failed job alone', async (t) => {
  const { runBatch, asked, list } = await open(t);
  const lost = toCall(insertPet, petValues({ ...pet, status: 'lost' }));
  const done = transact(addWindows, [{ subject: 'w', used: 1n }]);
  const jobs = [...addWindow('a'), failing, ...addWindow('a', 'c'), ...add('Rex'), lost, done, ...add('Bo')];
  assert.deepEqual(describe(runBatch(jobs)), ['a', 'failed', 'failed', 'c', 1n, 'failed', 'done', 2n]);
  assert.deepEqual(asked, { commit: 1, rollback: 0 });
  assert.equal(list('select subject from usage_windows').length, 3);
});

test('if ids run out, only the rows that get no id are refused', async (t) => {
  const { connection, runBatch } = await open(t);
  connection.raw.exec(`insert into pets values (${int64Max - 3n}, 'Max', 1, 'sold', 0)`);
  const outcomes = describe(runBatch(add(...Array<string>(8).fill('Rex'))));
  assert.deepEqual(outcomes, [int64Max - 2n, int64Max - 1n, int64Max, ...Array(5).fill('failed')]);
});

test('if the disk is full, the whole batch fails, and writes succeed again once there is room', async (t) => {
  const { connection, runBatch, list } = await open(t);
  const large = transact(addSecret, { name: 'large', value: new Uint8Array(1e6) });
  const [pages] = list('pragma page_count');
  connection.raw.exec(`pragma max_page_count = ${pages?.['page_count']}`);
  assert.throws(() => runBatch([...addWindow('a'), large]), /disk is full/);
  assert.deepEqual(list('select subject from usage_windows'), []);

  connection.raw.exec('pragma max_page_count = 100000');
  assert.deepEqual(describe(runBatch([large])), ['done']);
});

test('if a transaction cannot be rolled back, all its jobs fail, and later jobs succeed', async (t) => {
  const { connection, runBatch } = await open(t);
  const exec = t.mock.method(connection.raw, 'exec', (sql: string) => {
    if (sql === 'commit' || sql === 'rollback') throw new Error('out of memory');
    return DatabaseSync.prototype.exec.call(connection.raw, sql);
  });
  assert.throws(() => runBatch(add('a', 'b')), /out of memory/);
  exec.mock.restore();
  assert.throws(() => runBatch(add('a')), /within a transaction/);
  assert.deepEqual(describe(runBatch(add('a'))), [1n]);
});
