import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { readConnectionsMax } from '../../../src/storage/postgres/connections.ts';

import { createPostgresPool, waitingTasksMax } from '../../../src/storage/postgres/pool.ts';
import { findPostgres } from '../../support/engines.ts';
import { eventually } from '../../support/redis-server.ts';

const postgres = await findPostgres();

/** Fills a pool with tasks that wait until the test releases them. */
async function fillPool(t: TestContext, count: number) {
  const store = await postgres.createStore(t);
  // Disables the connection timeout, because the test is about the number of waiting tasks.
  const pool = createPostgresPool(store.url, { connectionTimeoutMillis: 0, application_name: 'pool' });
  t.after(() => pool.close());
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  let started = 0;
  const tasks = Array.from({ length: count }, (_, index) =>
    pool.read(async () => {
      started += 1;
      await isOver;
      return index;
    }),
  );
  return { store, pool, tasks, end, countStarted: () => started };
}

describe('the pool of connections to PostgreSQL', { skip: postgres.skip }, () => {
  test('opens at most the allowed number of connections, and runs all waiting tasks', async (t) => {
    const { store, tasks, end, countStarted } = await fillPool(t, readConnectionsMax + waitingTasksMax);
    await eventually(async () => countStarted() === readConnectionsMax);
    const connections = await store.execute(`
      select pid from pg_stat_activity where datname = current_database() and application_name = 'pool'`);
    assert.equal(connections.length, readConnectionsMax);
    end();
    assert.deepEqual(await Promise.all(tasks), [...tasks.keys()]);
  });

  test('immediately refuses tasks beyond the bound of waiting tasks', async (t) => {
    const { pool, tasks, end } = await fillPool(t, readConnectionsMax + waitingTasksMax);
    const message = 'too many calls wait for the store; try again';
    await assert.rejects(
      pool.read(async () => undefined),
      { code: 'unavailable', message },
    );
    end();
    await Promise.all(tasks);
    await pool.read(async () => undefined);
  });
});
