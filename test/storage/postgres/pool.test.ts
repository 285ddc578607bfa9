import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCall } from '../../../src/storage/postgres/batch.ts';
import { createCallQueue } from '../../../src/storage/postgres/call-queue.ts';
import {
  createPostgresPool,
  type Lend,
  readConnectionsMax,
  waitingTasksMax,
} from '../../../src/storage/postgres/pool.ts';
import { storeUnavailable } from '../../../src/storage/store-errors.ts';
import { selectSubjects } from '../../contracts/window-rows.ts';
import { findPostgres } from '../../support/engines.ts';
import { eventually } from '../../support/redis-server.ts';

const postgres = await findPostgres();

test('the pool opens at most the allowed number of connections to PostgreSQL, runs all waiting tasks, and refuses more', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  // Disables the connection timeout, because the test is about the number of waiting tasks.
  const pool = createPostgresPool(store.url, { connectionTimeoutMillis: 0, application_name: 'pool' });
  t.after(() => pool.close());
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  let started = 0;
  const tasks = Array.from({ length: readConnectionsMax + waitingTasksMax }, (_, index) =>
    pool.read(async () => {
      started += 1;
      await isOver;
      return index;
    }),
  );
  await eventually(async () => started === readConnectionsMax);
  const connections = await store.execute(`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'pool'`);
  assert.equal(connections.length, readConnectionsMax);
  const message = 'too many calls wait for the store; try again';
  await assert.rejects(
    pool.read(async () => undefined),
    { code: 'unavailable', message },
  );
  end();
  assert.deepEqual(await Promise.all(tasks), [...tasks.keys()]);
  await pool.read(async () => undefined);
});

test('a read is sent, although another one gets no connection to PostgreSQL in the same turn', {
  skip: postgres.skip,
}, async (t) => {
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
  const reads = createCallQueue(lend, 32);
  await assert.rejects(read(), { code: 'unavailable' });
  assert.deepEqual(await second, []);
});
