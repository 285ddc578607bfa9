import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { checkPostgres } from '../../src/doctor/postgres.ts';
import { connectionsDefault } from '../../src/setting-values.ts';
import { sendBatch, toCall } from '../../src/storage/postgres/batch.ts';
import { createPostgresPool } from '../../src/storage/postgres/pool.ts';
import { selectSubjects } from '../contracts/window-rows.ts';
import { findPostgres } from '../support/engines.ts';
import { add, amplePlan, ask, readJson, send, startInstances, untilAnswered } from '../support/instances.ts';
import { startPgBouncer, whyNoPgBouncer } from '../support/pgbouncer.ts';
import { connectPostgres } from '../support/postgres-databases.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoPgBouncer());

const revokeMsMax = 5_000;

describe('behind PgBouncer', { skip }, () => {
  test('in session mode instances work unchanged', async (t) => {
    const instances = await startInstances(t, {
      postgres,
      count: 2,
      reach: ({ url }) => startPgBouncer(t, url, { pool_mode: 'session', default_pool_size: '30' }),
    });
    const { id, key } = await instances.createKey(...amplePlan, '--scopes', 'all');
    const adding = Array.from({ length: 120 }, (_, place) =>
      add(instances.next(), key, `animal ${place}`, place % 2 === 0 ? `key-${place}` : undefined),
    );
    for (const { status } of await Promise.all(adding)) assert.equal(status, 201);
    const ordering = Array.from({ length: 60 }, (_, place) =>
      send(instances.next(), key, 'POST /orders', { petId: 1 + (place % 30) }),
    );
    const ordered = (await Promise.all(ordering)).map(({ status }) => status);
    assert.deepEqual(ordered.toSorted(), [...Array(30).fill(201), ...Array(30).fill(409)]);
    const listing = Array.from({ length: 60 }, async () => readJson<unknown[]>(ask(instances.next(), key)));
    for (const page of await Promise.all(listing)) assert.equal(page.length, 20);
    await instances.command('keys', 'revoke', id);
    for (const service of instances.services)
      await untilAnswered(service, key, ({ status }) => status === 401, revokeMsMax);
  });

  const pools = {
    'with one connection': { default_pool_size: '1' },
    'with connections that take turns': { default_pool_size: '3', server_round_robin: '1' },
  };
  for (const [which, pool] of Object.entries(pools))
    test(`in transaction mode ${which}, a start is refused with the reason`, async (t) => {
      const store = await postgres.createStore(t);
      const url = await startPgBouncer(t, store.url, { pool_mode: 'transaction', ...pool });
      await openServerConnections(t, url, Number(pool.default_pool_size));
      const message =
        /^the database \S+ cannot be opened: a pooler in front of the server lends its connections by transaction: set the pooler to session mode[^\n]+$/;
      await assert.rejects(store.open(url), { name: 'OperatorError', message });
    });

  test('that comes to transaction mode later, statements fail with the reason', async (t) => {
    const store = await postgres.createStore(t);
    const lending = { pool_mode: 'transaction', default_pool_size: '1' };
    const url = await startPgBouncer(t, store.url, lending);
    const pools = [createPostgresPool(url), createPostgresPool(url)] as const;
    t.after(() => Promise.all(pools.map((pool) => pool.close())));
    const [first, second] = pools;
    const read = (pool: typeof first) =>
      pool.read((client) => sendBatch(client, [toCall(selectSubjects, {})]));
    await read(first);
    const message =
      /^a pooler in front of the database loses prepared statements: set the pooler to session mode$/;
    await assert.rejects(async () => read(second), { name: 'OperatorError', message });
  });

  test('in transaction mode the doctor names the pooler as a problem', async (t) => {
    const store = await postgres.createStore(t);
    const url = await startPgBouncer(t, store.url, { pool_mode: 'transaction' });
    const findings = await checkPostgres(
      url,
      {
        environment: 'staging',
        requireStore: true,
        webhookSecretKeys: [],
        databaseConnections: connectionsDefault,
      },
      Date.now,
    );
    const problems = findings.filter(({ verdict }) => verdict === 'problem').map(({ is }) => is);
    assert.deepEqual(problems, ['a pooler in front of the server lends its connections by transaction']);
  });
});

/** Makes a pooler open `count` connections to its server, and give them back. */
async function openServerConnections(t: TestContext, url: string, count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => connectPostgres(t, url)));
  for (const client of clients) await client.query('begin');
  for (const client of clients) await client.query('rollback');
}
