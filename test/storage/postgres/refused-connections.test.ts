import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DatabaseError } from 'pg';
import { AppError } from '../../../src/errors.ts';
import { addWindow, selectSubjects } from '../../contracts/window-rows.ts';
import { examineWith, expectFinding } from '../../doctor/examined.ts';
import { importPets } from '../../support/catalogue.ts';
import { findPostgres } from '../../support/engines.ts';
import { executePostgres } from '../../support/postgres-databases.ts';
import { startService } from '../../support/service.ts';

const postgres = await findPostgres();

/** SQL that makes the server refuse connections with an SQLSTATE, and SQL that ends this. */
const refusals = {
  '55000': ['alter database NAME allow_connections false', 'alter database NAME allow_connections true'],
  '53300': ['alter role NAME connection limit 0', 'alter role NAME connection limit -1'],
} as const;

const few = 4;

/** Creates a store of a role that has the name of the database, whose connections the server can refuse. */
async function createRefusable(t: TestContext, code: keyof typeof refusals) {
  const store = await postgres.createEmptyStore(t);
  const [own, server] = [new URL(store.url), new URL(store.url)];
  const name = server.pathname.slice(1);
  [own.username, server.pathname] = [name, '/postgres'];
  const execute = (sql: string) => executePostgres(server.href, sql);
  await execute(`create role ${name} login; alter database ${name} owner to ${name}`);
  // The callback that drops the database runs earlier, so the role owns nothing when it is dropped.
  t.after(() => execute(`drop role ${name}`));
  const [refusal, end] = refusals[code].map((sql) => sql.replace('NAME', name)) as [string, string];
  /** Makes the server refuse new connections, and waits until the open ones have ended. */
  async function refuse(): Promise<void> {
    await execute(refusal);
    const ends = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
    while ((await execute(ends)).length !== 0);
  }
  const allowFew = () => execute(`alter role ${name} connection limit ${few}`);
  return { open: () => store.open(own.href), url: own.href, refuse, allow: () => execute(end), allowFew };
}

describe('a PostgreSQL that refuses connections', { skip: postgres.skip }, () => {
  for (const code of Object.keys(refusals) as (keyof typeof refusals)[])
    test(`makes calls fail as unavailable only while it refuses (SQLSTATE ${code})`, async (t) => {
      const { open, refuse, allow } = await createRefusable(t, code);
      const database = await open();
      await addWindow(database, 'a');
      await refuse();
      await untilRefused(async () => database.read(selectSubjects, {}), code);
      await untilRefused(() => addWindow(database, 'b'), code);
      await untilRefused(() => importPets(database), code);
      await allow();
      assert.equal((await database.read(selectSubjects, {})).length, 1);
    });

  test('beyond a few lets an instance start only if it is told to use no more', async (t) => {
    const { open, url, allowFew } = await createRefusable(t, '53300');
    await (await open()).close();
    await allowFew();
    const needed =
      /may open 4 connections to \w+, and an instance takes up to 10: .* set DATABASE_CONNECTIONS to 4 or/;
    await assert.rejects(open(), needed);
    const settings = { DATABASE_URL: url };
    expectFinding(await examineWith(settings), 'connections', 'problem', /may open 4 connections/);

    const service = await startService(t, { ...settings, DATABASE_CONNECTIONS: String(few) });
    const key = await service.createKey();
    const sending = Array.from({ length: 200 }, async (_, place) => {
      const body = JSON.stringify({ name: `animal ${place}`, categoryId: 1 });
      const headers = { 'content-type': 'application/json' };
      const added = await service.request(key, '/pets', { method: 'POST', headers, body });
      return [added.status, (await service.request(key, `/pets?limit=${1 + (place % 100)}`)).status];
    });
    for (const statuses of await Promise.all(sending)) assert.deepEqual(statuses, [201, 200]);
    await service.stop();
  });

  test('makes a service answer 503 and log the refusal as a fault of the store without a stack', async (t) => {
    const { url, refuse, allow } = await createRefusable(t, '55000');
    const service = await startService(t, { DATABASE_URL: url, LOG_REQUESTS: 'errors' });
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
