import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { hourMs } from '../../src/clock.ts';
import { findPostgres } from '../support/engines.ts';
import { expectError } from '../support/expect-error.ts';
import { ask, type MadeKey, readJson } from '../support/instances.ts';
import { type ProcessOptions, runProgram, serveInProcess } from '../support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

type Settings = NonNullable<ProcessOptions['settings']>;

async function command<T>(settings: Settings, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runProgram([...args, '--json'], { settings });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as T;
}

async function createEmbedded(t: TestContext): Promise<string> {
  const url = `sqlite:${await makeFolder(t)}/store.db`;
  await command({ DATABASE_URL: url }, 'migrate');
  return url;
}

describe('a SQLite store that is migrated to PostgreSQL for many instances', { skip }, () => {
  test('keeps its counts and bans, which move to Redis', async (t) => {
    const from = await createEmbedded(t);
    const settings = { ENVIRONMENT: 'staging', DATABASE_URL: from };
    const plan = ['--plan', 'enterprise', '--per-minute', '1000', '--per-day', '20'];
    const { key: used } = await command<MadeKey>(settings, 'keys', 'create', ...plan);
    const { key: banned } = await command<MadeKey>(settings, 'keys', 'create', '--plan', 'free');
    const before = await serveInProcess(t, { settings });
    for (let sent = 0; sent < 20; sent += 1) assert.equal((await ask(before, used)).status, 200);
    const refusals = await Promise.all(Array.from({ length: 120 }, () => ask(before, banned)));
    assert.equal(refusals.filter(({ status }) => status === 200).length, 60);
    assert.equal((await before.end('SIGTERM')).code, 0);
    // On a busy machine, a ban of a minute may end before it is asked for.
    const file = new DatabaseSync(from.replace('sqlite:', ''));
    file.exec(`update key_bans set banned_until_ms = banned_until_ms + ${hourMs}, last_ban_ms = ${hourMs}`);
    file.close();

    const { url: to } = await postgres.createEmptyStore(t);
    await command({}, 'migrate', '--from', from, '--to', to);
    const { url: REDIS_URL } = await startRedisServer(t);
    for (let count = 0; count < 2; count += 1) {
      const after = await serveInProcess(t, { settings: { DATABASE_URL: to, REDIS_URL } });
      assert.deepEqual(await readJson(fetch(`${after.opsUrl}/readyz`)), { status: 'ready' });
      await expectError(await ask(after, used), 429, 'rate_limit_exceeded');
      await expectError(await ask(after, banned), 429, 'key_banned');
    }
  });
});
