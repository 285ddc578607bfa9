import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { add, amplePlan, ask, startInstances, untilAnswered } from '../support/instances.ts';
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const pgBouncer = await findPgBouncer();
const skip = postgres.skip || pgBouncer.skip || (await whyNoRedisServer());

const revokeMsMax = 5_000;

describe('behind PgBouncer', { skip }, () => {
  test('that lends connections for a session, instances serve as without it', async (t) => {
    const { url: redisUrl } = await startRedisServer(t);
    const instances = await startInstances(t, {
      postgres,
      redisUrl,
      count: 2,
      reach: ({ url }) => startPgBouncer(t, url, { pool_mode: 'session', default_pool_size: '30' }),
    });
    const { id, key } = await instances.createKey(...amplePlan);
    const adding = Array.from({ length: 60 }, (_, place) =>
      add(instances.next(), key, 'Rex', `key-${place}`),
    );
    for (const { status } of await Promise.all(adding)) assert.equal(status, 201);
    for (const service of instances.services) assert.equal((await ask(service, key)).status, 200);
    await instances.command('keys', 'revoke', id);
    for (const service of instances.services)
      await untilAnswered(service, key, ({ status }) => status === 401, revokeMsMax);
  });

  test('that lends them for a transaction and carries no prepared statements, none starts, and says why', {
    skip: pgBouncer.carriesStatements && 'this PgBouncer carries them',
  }, async (t) => {
    const store = await postgres.createStore(t);
    const lending = { pool_mode: 'transaction', default_pool_size: '1' };
    const DATABASE_URL = await startPgBouncer(t, store.url, lending);
    const settings = { DATABASE_URL, PORT: '0', OPS_PORT: '0', ENVIRONMENT: 'staging', LOG_LEVEL: 'silent' };
    // The first prepares them, whether or not it meets what it has prepared itself.
    await serveInProcess(t, { settings }).catch(() => undefined);
    const ended = await runProgram(['serve'], { settings });
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /^error: a pooler before the database loses prepared statements: [^\n]*\n$/);
  });
});
