import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { createMovableClock, makeFolder } from '../support/service.ts';
import { runInProcess } from './run-command-line.ts';

/** Runs commands on a new store, with a clock that is stopped at noon (UTC) of 2 January 2027. */
async function startWorld(t: TestContext) {
  const path = join(await makeFolder(t), 'store.db');
  const clock = createMovableClock();
  await runInProcess(['migrate'], `sqlite:${path}`);

  async function run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runInProcess(args, `sqlite:${path}`, clock.now);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  return {
    clock,
    run,
    runJson: async (...args: readonly string[]) => JSON.parse(await run(...args, '--json')),
    runWhole: (...args: readonly string[]) => runInProcess(args, `sqlite:${path}`, clock.now),
    execute(sql: string): void {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    },
  };
}

test('an account is created, renamed, suspended and resumed, each with a line of output', async (t) => {
  const { run, runJson } = await startWorld(t);
  assert.equal(await run('accounts', 'create', 'Zoo', '--plan', 'pro'), 'Zoo is created on the plan pro\n');
  assert.equal(await run('accounts', 'rename', 'Zoo', 'Ark'), 'Zoo is renamed to Ark\n');
  assert.equal(await run('accounts', 'suspend', 'Ark'), 'Ark is suspended\n');
  assert.match(await run('accounts', 'list'), /\nArk {6}pro .* suspended$/m);
  assert.match(await run('accounts', 'show', 'Ark'), /^suspended {3}since 2027-01-02 12:00Z$/m);
  assert.equal(await run('accounts', 'resume', 'Ark'), 'Ark is active again\n');
  assert.deepEqual(await runJson('accounts', 'create', 'Own', '--plan', 'free'), {
    account: 'Own',
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    openHolds: 5,
  });
});

test('the audit log shows who changed which account, and never a key', async (t) => {
  const { run, runJson, clock } = await startWorld(t);
  const made = await runJson('keys', 'create', '--plan', 'free', '--account', 'Zoo', '--name', 'Till');
  clock.advance(minuteMs);
  const successor = await runJson('keys', 'rotate', made.id);
  await run('keys', 'revoke', successor.id);
  const log = await runJson('audit', '--account', 'Zoo');
  assert.deepEqual(
    log.map(({ action, subject }: Record<string, string>) => [action, subject]),
    [
      ['key.revoked', successor.id],
      ['key.created', successor.id],
      ['key.rotated', made.id],
      ['key.created', made.id],
      ['account.created', 'Zoo'],
    ],
  );
  assert.deepEqual(log[0].by, { kind: 'command', name: userInfo().username });
  assert.equal(log[0].at, '2027-01-02T12:01:00.000Z');
  assert.equal(log[3].after.name, 'Till');
  const shown = await run('audit');
  assert.match(shown, /^WHEN +WHO +DID +TO/);
  assert.ok(!shown.includes(made.key.slice(12)) && !JSON.stringify(log).includes(made.key.slice(12)));
  assert.equal((await runJson('audit', '--of', made.id, '--limit', '1')).length, 1);
  assert.equal((await runJson('audit', '--since', '30s')).length, 3);
  assert.deepEqual(await runJson('audit', '--by', 'nobody'), []);
});

test('a banned key is listed with the end of its ban until the ban is lifted', async (t) => {
  const { run, runJson, execute } = await startWorld(t);
  const { id } = await runJson('keys', 'create', '--plan', 'free', '--account', 'Zoo');
  const endsAtMs = Date.UTC(2027, 0, 2, 12, 30);
  execute(`insert into key_bans (key_id, banned_until_ms, last_ban_at_ms, last_ban_ms, refused_at_ms, forget_at_ms)
    values ('${id}', ${endsAtMs}, 0, 60000, '', ${endsAtMs})`);
  const [ban] = await runJson('bans', 'list');
  assert.partialDeepStrictEqual(ban, { keyId: id, account: 'Zoo', until: '2027-01-02T12:30:00.000Z' });
  const [key] = await runJson('keys', 'list', '--account', 'Zoo');
  assert.deepEqual([key.state, key.bannedUntil], ['banned', '2027-01-02T12:30:00.000Z']);
  assert.match(await run('keys', 'list'), /banned until 2027-01-02 12:30Z/);
  assert.equal(await run('bans', 'lift', id), `the ban of ${id} is lifted\n`);
  assert.deepEqual(await runJson('bans', 'list'), []);
  assert.equal((await runJson('keys', 'list'))[0].state, 'active');
  assert.equal((await runJson('audit', '--action', 'ban.lifted'))[0].subject, id);
});

test('accounts show lists the newest keys of an account and reports that there are more', async (t) => {
  const { run, runJson, execute } = await startWorld(t);
  await run('keys', 'create', '--plan', 'free', '--account', 'Zoo');
  assert.doesNotMatch(await run('accounts', 'show', 'Zoo'), /the newest/);
  execute(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 50)
    insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
    select 'key_' || n, 1, randomblob(32), 'as_dev_', 'pets:read', 2000000000000 + n from numbers`);
  assert.match(
    await run('accounts', 'show', 'Zoo'),
    /^\(the newest 50 of 51; to list all: keys list --account "Zoo"\)$/m,
  );
  const { keys, keysTotal } = await runJson('accounts', 'show', 'Zoo');
  assert.deepEqual([keys.length, keys[0].id, keys[49].id, keysTotal], [50, 'key_1', 'key_50', 51]);
});

test('accounts show prints the rate limit windows, keys, open holds and usage of an account', async (t) => {
  const { run, runJson, execute, clock } = await startWorld(t);
  const { id } = await runJson('keys', 'create', '--plan', 'free', '--account', 'Zoo');
  const nowMs = clock.now();
  execute(`insert into usage_windows values ('account:1', 7, ${nowMs + 30_000}, 90, ${nowMs + 3_600_000});
    insert into usage_hours values (1, ${nowMs - 3_600_000}, 100, 3, 2), (1, ${nowMs}, 10, 0, 1)`);
  const shown = await run('accounts', 'show', 'Zoo');
  assert.match(shown, /^plan {8}free: 60 a minute, 1000 a day$/m);
  assert.match(shown, /^minute {6}7 of 60 used, 53 left, resets at 2027-01-02T12:00:30Z$/m);
  assert.match(shown, /^day {9}90 of 1000 used, 910 left, resets at 2027-01-02T13:00:00Z$/m);
  assert.match(shown, /^open holds {2}0 of 5$/m);
  assert.match(shown, /^last day {4}110 requests, 3 refused by a limit, 3 with another error$/m);
  assert.match(shown, new RegExp(`^${id} `, 'm'));
  assert.match(shown, /^2027-01-02 11:00Z {2}100 +3 +2$/m);
  const found = await runJson('accounts', 'show', 'Zoo');
  assert.partialDeepStrictEqual(found, {
    minute: { limit: 60, used: 7, remaining: 53, resetAt: '2027-01-02T12:00:30.000Z' },
    openHolds: { limit: 5, open: 0 },
    lastDay: { requests: 110, refusals: 3, errors: 3 },
  });
  assert.deepEqual(
    found.hours.map(({ from, requests }: { from: string; requests: number }) => [from, requests]),
    [
      ['2027-01-02T11:00:00.000Z', 100],
      ['2027-01-02T12:00:00.000Z', 10],
    ],
  );
});

test('keys create for an unknown account prints a warning, and with --json still prints one JSON value', async (t) => {
  const { runWhole } = await startWorld(t);
  const args = ['keys', 'create', '--plan', 'free', '--account', 'Hapy Paws', '--json'];
  const made = await runWhole(...args);
  assert.equal(made.stderr, 'warning: there was no account "Hapy Paws": a new one was created\n');
  assert.equal(JSON.parse(made.stdout).account, 'Hapy Paws');
  assert.equal((await runWhole(...args)).stderr, '');
  assert.equal((await runWhole('keys', 'create', '--plan', 'free')).stderr, '');
});

test('keys rotate prints when the old key expires', async (t) => {
  const { run, runJson } = await startWorld(t);
  const { id } = await runJson('keys', 'create', '--plan', 'free');
  const shown = await run('keys', 'rotate', id, '--overlap', '1h');
  assert.match(shown, /^the old key works until 2027-01-02T13:00:00\.000Z$/m);
  const keys: readonly { readonly id: string }[] = await runJson('keys', 'list');
  const successor = keys.find((key) => key.id !== id);
  assert.ok(successor);
  const { oldKeyEndsAt } = await runJson('keys', 'rotate', successor.id, '--overlap', '0');
  assert.equal(oldKeyEndsAt, '2027-01-02T12:00:00.000Z');
});

test('every table fits 80 columns', async (t) => {
  const { run, execute } = await startWorld(t);
  await run('keys', 'create', '--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '100000000');
  await run(
    'keys',
    'create',
    '--plan',
    'free',
    '--account',
    'A zoo with a longer name',
    '--name',
    'Warehouse',
  );
  await run('accounts', 'suspend', 'A zoo with a longer name');
  execute(`insert into orders (account_id, pet_id, status, reference, created_at_ms, expires_at_ms, closed_at_ms)
    values (2, 9223372036854775807, 'completed', 'a reference of some length', 0, 0, 0)`);
  for (const args of ['keys list', 'accounts list', 'bans list', 'audit', 'orders list'])
    for (const line of (await run(...args.split(' '))).split('\n'))
      assert.ok(line.length <= 80, `${args}: ${line}`);
});
