import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { Client, DatabaseError } from 'pg';
import { AppError } from '../../../src/errors.ts';
import { insertWindow, selectSubjects } from '../../contracts/window-rows.ts';
import { findPostgres } from '../../support/engines.ts';
import { startService } from '../../support/service.ts';

const postgres = await findPostgres();

/** Creates a store that a role without special privileges uses, and an administrator's connection to the server. */
async function createRefusable(t: TestContext) {
  const role = `animal_store_test_${randomUUID().replaceAll('-', '')}`;
  const store = await postgres.createEmptyStore(t);
  const [address, server] = [new URL(store.url), new URL(store.url)];
  const database = address.pathname.slice(1);
  server.pathname = '/postgres';
  address.username = role;
  const admin = new Client({ connectionString: server.href });
  await admin.connect();
  // The callback that drops the database runs earlier, so the role owns nothing when it is dropped.
  t.after(async () => {
    await admin.query(`drop role ${role}`);
    await admin.end();
  });
  await admin.query(`create role ${role} login; alter database ${database} owner to ${role}`);
  return {
    store,
    url: address.href,
    role,
    database,
    admin,
    /** Makes the server refuse new connections, and waits until the open ones have ended. */
    async refuse(sql: string) {
      await admin.query(sql);
      const ends = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`;
      while ((await admin.query(ends)).rowCount !== 0);
    },
  };
}

type Names = Pick<Awaited<ReturnType<typeof createRefusable>>, 'role' | 'database'>;

const refusals: readonly {
  readonly what: string;
  readonly code: string;
  refuse(names: Names): string;
  allow(names: Names): string;
}[] = [
  {
    what: 'a database that allows no connections',
    code: '55000',
    refuse: ({ database }) => `alter database ${database} allow_connections false`,
    allow: ({ database }) => `alter database ${database} allow_connections true`,
  },
  {
    what: 'too many connections of a role',
    code: '53300',
    refuse: ({ role }) => `alter role ${role} connection limit 0`,
    allow: ({ role }) => `alter role ${role} connection limit -1`,
  },
];

describe('a PostgreSQL that refuses connections', { skip: postgres.skip }, () => {
  for (const { what, code, refuse, allow } of refusals)
    test(`makes calls fail as unavailable, and succeed afterwards: ${what} (SQLSTATE ${code})`, async (t) => {
      const target = await createRefusable(t);
      const database = await target.store.open(target.url);
      await database.run(insertWindow, { subject: 'a', used: 1n });
      await target.refuse(refuse(target));
      await untilRefused(async () => database.read(selectSubjects, {}), code);
      await untilRefused(() => database.run(insertWindow, { subject: 'b', used: 1n }), code);
      await untilRefused(() => database.load('pets', ['name'], noRows()), code);
      await target.admin.query(allow(target));
      assert.equal((await database.read(selectSubjects, {})).length, 1);
    });

  test('makes a service answer 503 and log the refusal as a fault of the store without a stack', async (t) => {
    const { store, refuse, database, admin } = await createRefusable(t);
    const service = await startService(t, { DATABASE_URL: store.url, LOG_REQUESTS: 'errors' });
    const key = await service.createKey();
    assert.equal((await service.request(key, '/pets')).status, 200);
    await refuse(`alter database ${database} allow_connections false`);
    for (let times = 0; times < 5; times += 1) {
      const response = await service.request(key, '/pets');
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [503, 'unavailable']);
    }
    assert.equal(service.readLog().split('the store cannot be read: ').length, 2);
    assert.doesNotMatch(service.readLog(), /"stack"|"status":500/);
    await admin.query(`alter database ${database} allow_connections true`);
    assert.equal((await service.request(key, '/pets')).status, 200);
    // The service must stop before the `after` callbacks run, because the first of them drops the database.
    await service.stop();
  });
});

/**
 * Repeats a failing call until the server refuses its connection with a code. Before that, a call may use a lost
 * connection of the pool, or see the server's reset before its message. Such a call is `unavailable`, too.
 */
async function untilRefused(call: () => Promise<unknown>, code: string): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    const error = await call().then(
      () => assert.fail('the call succeeded'),
      (failure: unknown) => failure,
    );
    assert.ok(error instanceof AppError && error.code === 'unavailable', String(error));
    if (error.cause instanceof DatabaseError && error.cause.code === code) return;
    assert.ok(attempts < 100, `the last cause was ${error.cause}`);
  }
}

async function* noRows(): AsyncGenerator<never> {}
