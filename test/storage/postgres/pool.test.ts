import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { connectionsDefault } from '../../../src/setting-values.ts';
import { type Database, statement } from '../../../src/storage/database.ts';
import { sendBatch, toCall } from '../../../src/storage/postgres/batch.ts';
import { createCallQueue } from '../../../src/storage/postgres/call-queue.ts';
import {
  createPostgresPool,
  divideConnections,
  type Lend,
  waitingTasksMax,
} from '../../../src/storage/postgres/pool.ts';
import { storeUnavailable } from '../../../src/storage/store-errors.ts';
import { selectSubjects } from '../../contracts/window-rows.ts';
import { findPostgres } from '../../support/engines.ts';
import { connectPostgres } from '../../support/postgres-databases.ts';
import { testsUnless } from '../../support/programs.ts';
import { eventually } from '../../support/redis-server.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);
const { reads: readsMax } = divideConnections(connectionsDefault);

test('the pool runs every task within its bounds of connections and waiting tasks, but none beyond', async (t) => {
  const store = await postgres.createStore(t);
  // Disables the connection timeout, because the test is about the number of waiting tasks.
  const pool = createPostgresPool(store.url, connectionsDefault, {
    connectionTimeoutMillis: 0,
    application_name: 'pool',
  });
  t.after(() => pool.close());
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  let started = 0;
  const tasks = Array.from({ length: readsMax + waitingTasksMax }, (_, index) =>
    pool.read(async () => {
      started += 1;
      await isOver;
      return index;
    }),
  );
  await eventually(async () => started === readsMax);
  const connections = await store.execute(`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'animal-store pool'`);
  assert.equal(connections.length, readsMax);
  const nothing = async () => undefined;
  const message = 'too many calls wait for the store; try again';
  await assert.rejects(pool.read(nothing), { code: 'unavailable', message });
  end();
  assert.deepEqual(await Promise.all(tasks), [...tasks.keys()]);
  await pool.read(nothing);
});

test('a read is sent, although another one gets no connection to PostgreSQL in the same turn', async (t) => {
  const pool = createPostgresPool((await postgres.createStore(t)).url);
  t.after(() => pool.close());
  const read = () => reads.run(toCall(selectSubjects, {}));
  let second: ReturnType<typeof read> | undefined;
  const lend: Lend = async (task) => {
    if (second !== undefined) return await pool.read(task);
    await null;
    second = read();
    throw storeUnavailable();
  };
  const reads = createCallQueue({ lend, send: sendBatch, callsMax: 32 });
  await assert.rejects(read(), { code: 'unavailable' });
  assert.deepEqual(await second, []);
});

/** A read waits for a lock much longer than for a connection. It is given up first by the client, so it is not repeated. */
const patiently = '?lock_timeout=30000&statement_timeout=30000&query_timeout=15000';

/** A read that ends when `lock` is free. */
const readBehind = statement((query, p: { lock: bigint }) =>
  query.selectNoFrom(sql`pg_advisory_xact_lock_shared(cast(${p.lock} as bigint))::text`.as('locked')),
);

/** Opens a store beside a connection that holds the locks 1 and 2. */
async function openLocked(t: TestContext) {
  const store = await postgres.createStore(t);
  const database = await store.open(`${store.url}${patiently}`);
  const holder = await connectPostgres(t, store.url);
  await holder.query('select pg_advisory_lock(1), pg_advisory_lock(2)');
  const unlock = (lock: number) => holder.query('select pg_advisory_unlock($1)', [lock]);

  const countBlocked = async (lock: number) => {
    const rows = await store.execute(`select pid from pg_locks where locktype = 'advisory' and objid = ${lock}
      and database = (select oid from pg_database where datname = current_database()) and not granted`);
    return rows.length;
  };
  return { database, unlock, countBlocked };
}

/** Opens a store whose reading connections all work on reads that wait for lock 1. Lock 2 is held too. */
async function occupyConnections(t: TestContext) {
  const { database, unlock, countBlocked } = await openLocked(t);
  const running: ReturnType<Database['read']>[] = [];
  while (running.length < readsMax) {
    running.push(database.read(readBehind, { lock: 1n }));
    await eventually(async () => (await countBlocked(1)) === running.length);
  }
  return { database, running, unlock, countBlocked };
}

test('reads aside hold one connection to PostgreSQL, however many there are', async (t) => {
  const { database, unlock, countBlocked } = await openLocked(t);
  const reads = Array.from({ length: readsMax + 1 }, () => database.readAside(readBehind, { lock: 1n }));
  await eventually(async () => (await countBlocked(1)) === 1);
  assert.deepEqual(await database.read(selectSubjects, {}), []);
  assert.equal(await countBlocked(1), 1);
  await unlock(1);
  await Promise.all(reads);
});

test('a read while all reading connections of PostgreSQL work is refused as unavailable before they end', async (t) => {
  const { database, running, unlock, countBlocked } = await occupyConnections(t);
  await assert.rejects(async () => database.read(selectSubjects, {}), { code: 'unavailable' });
  assert.equal(await countBlocked(1), readsMax);
  await unlock(1);
  assert.equal((await Promise.all(running)).length, readsMax);
});

test('a read is not sent behind a slow read that waited before it', async (t) => {
  const { database, running, unlock, countBlocked } = await occupyConnections(t);
  const slow = database.read(readBehind, { lock: 2n });
  await new Promise((resolve) => setImmediate(resolve));
  const quick = database.read(selectSubjects, {});
  await unlock(1);
  assert.deepEqual(await quick, []);
  await eventually(async () => (await countBlocked(2)) === 1);
  await unlock(2);
  await Promise.all([...running, slow]);
});
