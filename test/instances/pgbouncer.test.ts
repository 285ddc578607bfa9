import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importPets } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { add, amplePlan, ask, readJson, send, startInstances, untilAnswered } from '../support/instances.ts';
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { runProgram, serveInProcess } from '../support/processes.ts';

const postgres = await findPostgres();
const pgBouncer = await findPgBouncer();
const skip = postgres.skip || pgBouncer.skip;

const revokeMsMax = 5_000;

describe('behind PgBouncer', { skip }, () => {
  const modes = {
    'in session mode': { pool_mode: 'session', default_pool_size: '30' },
    'in transaction mode, if the address names it,': {
      pool_mode: 'transaction',
      default_pool_size: '4',
      ignore_startup_parameters: '',
    },
  };
  for (const [mode, lending] of Object.entries(modes))
    test(`${mode} instances work unchanged`, async (t) => {
      const instances = await startInstances(t, {
        postgres,
        count: 2,
        async reach(store) {
          // Migrations need a direct connection to the server.
          await (await store.open()).close();
          const url = new URL(await startPgBouncer(t, store.url, lending));
          if (lending.pool_mode === 'transaction') url.searchParams.set('pgbouncer', 'transaction');
          return url.href;
        },
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

  test('in transaction mode a migration and an import are refused', async (t) => {
    const store = await postgres.createEmptyStore(t);
    const url = new URL(await startPgBouncer(t, store.url, { pool_mode: 'transaction' }));
    url.searchParams.set('pgbouncer', 'transaction');
    await assert.rejects(store.open(url.href), { name: 'OperatorError', message: /needs a session/ });
    await (await store.open()).close();
    const database = await store.open(url.href);
    await assert.rejects(importPets(database), { message: /an import needs a session/ });
  });

  test('in transaction mode a start fails with the reason if PgBouncer does not support prepared statements', {
    skip: pgBouncer.carriesStatements && 'this PgBouncer supports them',
  }, async (t) => {
    const store = await postgres.createEmptyStore(t);
    const lending = { pool_mode: 'transaction', default_pool_size: '1' };
    const DATABASE_URL = await startPgBouncer(t, store.url, lending);
    const settings = { DATABASE_URL, PORT: '0', OPS_PORT: '0', ENVIRONMENT: 'staging', LOG_LEVEL: 'silent' };
    // The first instance prepares the statements, even if it does not start.
    await serveInProcess(t, { settings }).catch(() => undefined);
    const ended = await runProgram(['serve'], { settings });
    assert.equal(ended.code, 1);
    assert.match(
      ended.stderr,
      /^error: a pooler in front of the database loses prepared statements: [^\n]*\n$/,
    );
  });
});
