import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DatabaseError } from 'pg';
import { AppError } from '../../../src/errors.ts';
import { insertWindow, selectSubjects } from '../../contracts/window-rows.ts';
import { findPostgres } from '../../support/engines.ts';
import { executePostgres } from '../../support/postgres-databases.ts';
import { startService } from '../../support/service.ts';

const postgres = await findPostgres();

/** Creates a store whose server can refuse connections with an SQLSTATE that otherwise is no fault of a server. */
async function createRefusable(t: TestContext) {
  const store = await postgres.createEmptyStore(t);
  const server = new URL(store.url);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  const execute = (sql: string) => executePostgres(server.href, sql);
  const allow = () => execute(`alter database ${name} allow_connections true`);
  /** Makes the server refuse new connections, and waits until the open ones have ended. */
  async function refuse(): Promise<void> {
    await execute(`alter database ${name} allow_connections false`);
    const ends = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
    while ((await execute(ends)).length !== 0);
  }
  return { store, refuse, allow };
}

describe('a PostgreSQL that refuses connections', { skip: postgres.skip }, () => {
  test('makes calls fail as unavailable, and succeed afterwards', async (t) => {
    const { store, refuse, allow } = await createRefusable(t);
    const database = await store.open();
    await database.run(insertWindow, { subject: 'a', used: 1n });
    await refuse();
    await untilRefused(async () => database.read(selectSubjects, {}));
    await untilRefused(() => database.run(insertWindow, { subject: 'b', used: 1n }));
    await untilRefused(() => database.load('pets', ['name'], noRows()));
    await allow();
    assert.equal((await database.read(selectSubjects, {})).length, 1);
  });

  test('makes a service answer 503 and log the refusal as a fault of the store without a stack', async (t) => {
    const { store, refuse, allow } = await createRefusable(t);
    const service = await startService(t, { DATABASE_URL: store.url, LOG_REQUESTS: 'errors' });
    const key = await service.createKey();
    assert.equal((await service.request(key, '/pets')).status, 200);
    await refuse();
    for (let times = 0; times < 5; times += 1) {
      const response = await service.request(key, '/pets');
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [503, 'unavailable']);
    }
    assert.equal(service.readLog().split('the store cannot be read: ').length, 2);
    assert.doesNotMatch(service.readLog(), /"stack"|"status":500/);
    await allow();
    assert.equal((await service.request(key, '/pets')).status, 200);
    // The service must stop before the `after` callbacks run, because the first of them drops the database.
    await service.stop();
  });
});

/**
 * Repeats a failing call until the server refuses its connection. Before that, a call may use a lost connection of the
 * pool, or see the server's reset before its message. Such a call is `unavailable`, too.
 */
async function untilRefused(call: () => Promise<unknown>): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    const error = await call().then(
      () => assert.fail('the call succeeded'),
      (failure: unknown) => failure,
    );
    assert.ok(error instanceof AppError && error.code === 'unavailable', String(error));
    if (error.cause instanceof DatabaseError && error.cause.code === '55000') return;
    assert.ok(attempts < 100, `the last cause was ${error.cause}`);
  }
}

async function* noRows(): AsyncGenerator<never> {}
