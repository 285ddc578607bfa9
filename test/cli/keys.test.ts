import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { isKeyText } from '../../src/accounts/api-key.ts';
import { createMovableClock, makeFolder } from '../support/service.ts';
import { runInProcess } from './run-command-line.ts';

/** Runs commands on a new store, with a clock that is stopped at noon (UTC) of 2 January 2027. */
async function startWorld(t: TestContext) {
  const path = join(await makeFolder(t), 'store.db');
  const clock = createMovableClock();
  await runInProcess(['migrate'], `sqlite:${path}`);

  async function run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runInProcess(args, `sqlite:${path}`, clock.now);
    assert.equal(code, 0);
    assert.match(stderr, /^(?:warning: there was no account "[^"]*": a new one was created\n)?$/);
    return stdout;
  }

  return {
    clock,
    run,
    runJson: async (...args: readonly string[]) => JSON.parse(await run(...args, '--json')),
    /** Renames all accounts directly in the database, without validation. */
    rename(name: string): void {
      const database = new DatabaseSync(path);
      database.prepare('update accounts set name = ?').run(name);
      database.close();
    },
  };
}

describe('keys create', () => {
  test('shows the key with its account, plan and scopes, and warns that the key is shown only once', async (t) => {
    const { run } = await startWorld(t);
    const shown = await run(
      'keys',
      'create',
      '--plan',
      'pro',
      '--account',
      'Acme Zoo',
      '--expires-in',
      '30d',
    );
    const [, key = ''] = /^key {6}(\S+)$/m.exec(shown) ?? [];
    assert.ok(isKeyText(key));
    assert.match(
      shown,
      /\nid {7}key_\w{16}\naccount {2}Acme Zoo\nplan {5}pro\nscopes {3}pets:read, pets:write, orders:read, orders:write, webhooks:manage\nexpires {2}2027-02-01 12:00Z\nworks only with ENVIRONMENT=staging\n\nCopy the key now: it is not stored and cannot be shown again\.\n$/,
    );
  });

  test('with --json prints one JSON value in the documented format', async (t) => {
    const { runJson } = await startWorld(t);
    const made = await runJson(
      'keys',
      'create',
      '--plan',
      'free',
      '--scopes',
      'pets:read',
      '--expires-in',
      '90s',
    );
    assert.deepEqual(Object.keys(made), ['id', 'name', 'key', 'account', 'plan', 'scopes', 'expiresAt']);
    assert.match(made.id, /^key_\w{16}$/);
    assert.ok(isKeyText(made.key));
    assert.match(made.account, /^account-\w{8}$/);
    assert.deepEqual(
      [made.plan, made.scopes, made.expiresAt],
      ['free', ['pets:read'], '2027-01-02T12:01:30.000Z'],
    );
  });

  for (const [duration, expiresAt] of [
    ['1s', '2027-01-02T12:00:01.000Z'],
    ['15m', '2027-01-02T12:15:00.000Z'],
    ['24h', '2027-01-03T12:00:00.000Z'],
    ['2w', '2027-01-16T12:00:00.000Z'],
    ['36500d', '2126-12-09T12:00:00.000Z'],
  ] as const)
    test(`accepts ${duration} as a lifetime`, async (t) => {
      const { runJson } = await startWorld(t);
      const made = await runJson('keys', 'create', '--plan', 'free', '--expires-in', duration);
      assert.equal(made.expiresAt, expiresAt);
    });
});

describe('keys rotate', () => {
  test('shows the new key, and the old key stays valid for 24 hours', async (t) => {
    const { runJson } = await startWorld(t);
    const old = await runJson('keys', 'create', '--plan', 'free', '--account', 'Zoo');
    const made = await runJson('keys', 'rotate', old.id);
    const names = ['id', 'name', 'key', 'account', 'plan', 'scopes', 'expiresAt', 'oldKeyEndsAt'];
    assert.deepEqual(Object.keys(made), names);
    assert.deepEqual([made.account, made.expiresAt], ['Zoo', null]);
    const listed = await runJson('keys', 'list');
    assert.deepEqual(
      listed.map(({ state, expiresAt }: { state: string; expiresAt: string }) => [state, expiresAt]).sort(),
      [
        ['active', null],
        ['rotated', '2027-01-03T12:00:00.000Z'],
      ],
    );
  });
});

describe('keys revoke', () => {
  test('is idempotent: a second revoke prints the same', async (t) => {
    const { run, runJson } = await startWorld(t);
    const { id } = await runJson('keys', 'create', '--plan', 'free');
    assert.equal(await run('keys', 'revoke', id), `${id} is revoked\n`);
    assert.deepEqual(await runJson('keys', 'revoke', id), { id, state: 'revoked', webhooks: [] });
  });
});

describe('keys list', () => {
  test('shows one key a line, with aligned columns', async (t) => {
    const { run, runJson, clock } = await startWorld(t);
    const one = await runJson(
      'keys',
      'create',
      '--plan',
      'free',
      '--account',
      'Acme Zoo',
      '--scopes',
      'pets:read',
    );
    clock.advance(60_000);
    const other = await runJson(
      'keys',
      'create',
      '--plan',
      'enterprise',
      '--per-minute',
      '7',
      '--per-day',
      '10',
      '--scopes',
      'pets:read,pets:write',
    );
    const starts = [one, other].map(({ key }) => `${key.slice(0, 11)}…`);
    const account = other.account.padEnd(16);
    assert.equal(
      await run('keys', 'list'),
      [
        'ID                    KEY           NAME  ACCOUNT           STATE   LAST USED',
        `${one.id}  ${starts[0]}  -     Acme Zoo          active  -`,
        `${other.id}  ${starts[1]}  -     ${account}  active  -`,
        '',
      ].join('\n'),
    );
  });

  test('with --json prints one JSON value, even for an empty store', async (t) => {
    const { runJson } = await startWorld(t);
    assert.deepEqual(await runJson('keys', 'list'), []);
    const { id, key, account } = await runJson('keys', 'create', '--plan', 'free');
    assert.deepEqual(await runJson('keys', 'list'), [
      {
        id,
        name: null,
        account,
        plan: 'free',
        state: 'active',
        scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'webhooks:manage'],
        start: key.slice(0, 11),
        createdAt: '2027-01-02T12:00:00.000Z',
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null,
        bannedUntil: null,
      },
    ]);
  });
});

describe('accounts', () => {
  test('list shows one account a line, with its limits and the number of its keys', async (t) => {
    const { run } = await startWorld(t);
    await run('keys', 'create', '--plan', 'free', '--account', 'Acme Zoo');
    await run(
      'accounts',
      'set-plan',
      'Acme Zoo',
      '--plan',
      'enterprise',
      '--per-minute',
      '7',
      '--per-day',
      '10',
    );
    assert.equal(
      await run('accounts', 'list'),
      'ACCOUNT   PLAN        PER MINUTE  PER DAY  OPEN HOLDS  KEYS  STATE\n' +
        'Acme Zoo  enterprise  7           10       100         1     active\n',
    );
  });

  test('list --json and set-plan --json print one JSON value each', async (t) => {
    const { run, runJson } = await startWorld(t);
    await run('keys', 'create', '--plan', 'free', '--account', 'Zoo');
    const limits = { perMinute: 300, perDay: 10_000, openHolds: 25 };
    assert.deepEqual(await runJson('accounts', 'set-plan', 'Zoo', '--plan', 'pro'), {
      account: 'Zoo',
      plan: 'pro',
      ...limits,
    });
    const [account] = await runJson('accounts', 'list');
    const createdAt = '2027-01-02T12:00:00.000Z';
    const times = { createdAt, suspendedAt: null };
    assert.deepEqual(account, { account: 'Zoo', plan: 'pro', ...limits, keys: 1, ...times });
  });

  test('set-plan prints the new plan', async (t) => {
    const { run } = await startWorld(t);
    await run('keys', 'create', '--plan', 'free', '--account', 'Zoo');
    assert.equal(await run('accounts', 'set-plan', 'Zoo', '--plan', 'pro'), 'Zoo is on the plan pro\n');
  });
});

describe('a name with control characters', () => {
  const name = '\x1b]0;owned\x07\x9b31m\r\nfree\u202e\u2028🦊';
  const shown = String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{d}\u{a}free\u{202e}\u{2028}🦊`;

  for (const command of ['keys', 'accounts'])
    test(`is escaped by ${command} list`, async (t) => {
      const { run, rename } = await startWorld(t);
      await run('keys', 'create', '--plan', 'free');
      rename(name);
      const [, line = '', ...rest] = (await run(command, 'list')).split('\n');
      assert.ok(line.includes(shown), line);
      assert.deepEqual(rest, ['']);
    });

  test('is escaped by keys create and accounts set-plan', async (t) => {
    const { run } = await startWorld(t);
    const account = 'left\u202eright';
    const shownName = String.raw`left\u{202e}right`;
    assert.ok((await run('keys', 'create', '--plan', 'free', '--account', account)).includes(shownName));
    assert.ok((await run('accounts', 'set-plan', account, '--plan', 'pro')).startsWith(shownName));
  });
});
