import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConnectionsMax } from '../../../src/storage/postgres/connections.ts';
import { createPostgresPool, waitingTasksMax } from '../../../src/storage/postgres/pool.ts';
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
