import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { int64Max } from '../../../src/int64.ts';
import { insertPet } from '../../../src/pets/pet-rows.ts';
import type { Parameters, Statement, Transaction } from '../../../src/storage/database.ts';
import { type Call, runBatch } from '../../../src/storage/sqlite/batch.ts';
import { isBusy, openConnection } from '../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { compileForSqlite, runSteps } from '../../../src/storage/sqlite/query.ts';
import { insertWindow } from '../../contracts/window-rows.ts';
import { addAndThrow, addSecret, addWindows } from '../../contracts/works.ts';
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
  return { path, connection, asked, list };
}

function call<P extends Parameters>(statement: Statement<P, unknown>, ...rows: P[]): Call {
  const compiled = compileForSqlite(statement);
  return {
    statement: compiled,
    values: rows.flatMap((row) => compiled.names.map((name) => row[name] ?? null)),
  };
}

function work<I>({ body }: Transaction<I, unknown>, input: I): Call {
  return { work: (connection) => runSteps(connection, body(input)) };
}

function describe(outcomes: ReturnType<typeof runBatch>) {
  return outcomes.map((outcome) => ('error' in outcome ? 'failed' : outcome.result));
}

const pet = (name: string) => ({ name, categoryId: 1n, status: 'available' });

test('a batch is one commit, and returns the outcome of each job in order', async (t) => {
  const { connection, asked } = await open(t);
  const outcomes = runBatch(connection, [
    call(insertPet, pet('a'), pet('b'), pet('c')),
    work(addWindows, [{ subject: 'w', used: 1n }]),
    call(insertPet, pet('d')),
    call(insertWindow, { subject: 'x', used: 1n }, { subject: 'y', used: 2n }),
  ]);
  assert.deepEqual(describe(outcomes), [1n, 2n, 3n, undefined, 4n, [{ subject: 'x' }], [{ subject: 'y' }]]);
  assert.deepEqual(asked, { commit: 1, rollback: 0 });
});

test('a failed job causes no additional commit for the other jobs', async (t) => {
  const { connection, asked, list } = await open(t);
  const outcomes = runBatch(connection, [
    call(insertWindow, { subject: 'a', used: 1n }),
    work(addAndThrow, { subject: 'b', used: 1n, name: 'AppError', message: 'no' }),
    call(insertWindow, { subject: 'a', used: 1n }, { subject: 'c', used: 1n }),
    call(insertPet, pet('Rex'), { ...pet('Max'), status: 'lost' }, pet('Bo')),
  ]);
  assert.deepEqual(describe(outcomes), [
    [{ subject: 'a' }],
    'failed',
    'failed',
    [{ subject: 'c' }],
    1n,
    'failed',
    2n,
  ]);
  assert.deepEqual(asked, { commit: 1, rollback: 0 });
  assert.equal(list('select subject from usage_windows').length, 2);
});

test('if ids run out, only the rows that get no id are refused', async (t) => {
  const { connection } = await open(t);
  connection.raw.exec(`insert into pets values (${int64Max - 3n}, 'Max', 1, 'sold', 0)`);
  const outcomes = runBatch(connection, [call(insertPet, ...Array.from({ length: 8 }, () => pet('Rex')))]);
  assert.deepEqual(describe(outcomes).slice(0, 3), [int64Max - 2n, int64Max - 1n, int64Max]);
  assert.deepEqual(describe(outcomes).slice(3), Array(5).fill('failed'));
});

test('an animal that a trigger of an operator skips does not get the id of another animal', async (t) => {
  const { connection } = await open(t);
  connection.raw.exec(
    "create trigger no_cats before insert on pets when new.name = 'Cat' begin select raise(ignore); end",
  );
  const outcomes = runBatch(connection, [call(insertPet, pet('Rex'), pet('Cat'), pet('Max'), pet('Cat'))]);
  assert.deepEqual(describe(outcomes), [1n, 'failed', 2n, 'failed']);
});

test('a trigger of an operator that rolls back the transaction affects only the job that fires it', async (t) => {
  const { connection, list } = await open(t);
  connection.raw.exec(
    "create trigger no_cats before insert on pets when new.name = 'Cat' begin select raise(rollback, 'no'); end",
  );
  const outcomes = runBatch(connection, [call(insertPet, pet('Rex'), pet('Cat'), pet('Max'))]);
  assert.deepEqual(describe(outcomes), [1n, 'failed', 2n]);
  assert.equal(list('select id from pets').length, 2);
});

test('on a full disk only jobs that do not fit fail, and writes succeed again once there is room', async (t) => {
  const { connection, list } = await open(t);
  const large = () => work(addSecret, { name: 'large', value: new Uint8Array(1e6) });
  const [pages] = list('pragma page_count');
  connection.raw.exec(`pragma max_page_count = ${pages?.['page_count']}`);
  const outcomes = runBatch(connection, [call(insertWindow, { subject: 'a', used: 1n }), large()]);
  assert.deepEqual(describe(outcomes), [[{ subject: 'a' }], 'failed']);
  assert.equal(list('select subject from usage_windows').length, 1);

  connection.raw.exec('pragma max_page_count = 100000');
  assert.deepEqual(describe(runBatch(connection, [large()])), [undefined]);
});

test('a batch that cannot get the lock changes nothing and reports that the store is locked', async (t) => {
  const { connection, path, asked } = await open(t);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('begin immediate');
  assert.throws(() => runBatch(connection, [call(insertPet, pet('a'), pet('b'))]), isBusy);
  other.exec('rollback');
  assert.deepEqual(describe(runBatch(connection, [call(insertPet, pet('a'), pet('b'))])), [1n, 2n]);
  assert.equal(asked.commit, 1);
});

test('if a transaction cannot be rolled back, all its jobs fail, and later jobs succeed', async (t) => {
  const { connection } = await open(t);
  const exec = t.mock.method(connection.raw, 'exec', (sql: string) => {
    if (sql.startsWith('rollback')) throw new Error('out of memory');
    return DatabaseSync.prototype.exec.call(connection.raw, sql);
  });
  const failing = () => work(addAndThrow, { subject: 'a', used: 1n, name: 'Error', message: 'no' });
  assert.deepEqual(describe(runBatch(connection, [call(insertPet, pet('a')), failing()])), [
    'failed',
    'failed',
  ]);
  exec.mock.restore();
  assert.deepEqual(describe(runBatch(connection, [call(insertPet, pet('a'))])), ['failed']);
  assert.deepEqual(describe(runBatch(connection, [call(insertPet, pet('a'))])), [1n]);
});
