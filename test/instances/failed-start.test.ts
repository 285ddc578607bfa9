import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { runProgram } from '../support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

test('a start that fails after Redis was opened ends the process with one line', { skip }, async (t) => {
  const redis = await startRedisServer(t);
  const store = await postgres.createStore(t);
  await (await store.open()).close();
  const url = new URL(store.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const { code, stderr, stdout } = await runProgram(['serve'], {
    settings: { DATABASE_URL: url.href, REDIS_URL: redis.url, PORT: '0', OPS_PORT: '0' },
  });
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^error: .*read-only.*\n$/);
  assert.doesNotMatch(stdout, /cleanup|background job failed/);
});
