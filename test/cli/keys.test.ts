import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isKeyText } from '../../src/accounts/api-key.ts';
import { createWorld } from '../support/command-line.ts';

const partnerScopes = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'webhooks:manage'];

describe('keys create', () => {
  test('shows the key with its account, plan and scopes only this time', async (t) => {
    const { print } = await createWorld(t);
    const shown = await print('keys create --plan pro --account "Acme Zoo" --expires-in 30d');
    const [first = '', id = '', ...rest] = shown.split('\n');
    assert.match(first, /^key {6}\S+$/);
    assert.ok(isKeyText(first.slice(9)));
    assert.match(id, /^id {7}key_\w{16}$/);
    assert.deepEqual(rest, [
      'account  Acme Zoo',
      'plan     pro',
      `scopes   ${partnerScopes.join(', ')}`,
      'expires  2027-02-01 12:00Z',
      'works only with ENVIRONMENT=staging',
      '',
      'Copy the key now: it is not stored and cannot be shown again.',
      '',
    ]);
  });

  test('with --json prints one JSON value in the documented format, with any lifetime', async (t) => {
    const { readJson } = await createWorld(t);
    const ends = {
      '1s': '2027-01-02T12:00:01.000Z',
      '15m': '2027-01-02T12:15:00.000Z',
      '24h': '2027-01-03T12:00:00.000Z',
      '2w': '2027-01-16T12:00:00.000Z',
      '36500d': '2126-12-09T12:00:00.000Z',
    };
    for (const [duration, expiresAt] of Object.entries(ends)) {
      const made = await readJson(`keys create --plan free --scopes pets:read --expires-in ${duration}`);
      assert.deepEqual(Object.keys(made), ['id', 'name', 'key', 'account', 'plan', 'scopes', 'expiresAt']);
      assert.match(`${made.id} ${made.account}`, /^key_\w{16} account-\w{8}$/);
      assert.ok(isKeyText(made.key));
      assert.deepEqual([made.plan, made.scopes, made.expiresAt], ['free', ['pets:read'], expiresAt]);
    }
  });

  test('with --json prints the warning of an unknown account to standard error', async (t) => {
    const { run } = await createWorld(t);
    const command = 'keys create --plan free --account "Hapy Paws" --json';
    const made = await run(command);
    assert.equal(made.stderr, 'warning: there was no account "Hapy Paws": a new one was created\n');
    assert.equal(JSON.parse(made.stdout).account, 'Hapy Paws');
    assert.equal((await run(command)).stderr, '');
    assert.equal((await run('keys create --plan free')).stderr, '');
  });
});

test('keys rotate ends the old key after 24 hours', async (t) => {
  const { readJson } = await createWorld(t);
  const old = await readJson('keys create --plan free --account Zoo');
  const made = await readJson(`keys rotate ${old.id}`);
  const names = ['id', 'name', 'key', 'account', 'plan', 'scopes', 'expiresAt', 'oldKeyEndsAt'];
  assert.deepEqual(Object.keys(made), names);
  const oldKeyEndsAt = '2027-01-03T12:00:00.000Z';
  assert.partialDeepStrictEqual(made, { account: 'Zoo', expiresAt: null, oldKeyEndsAt });
  const listed: readonly { state: string; expiresAt: string }[] = await readJson('keys list');
  const states = listed.map(({ state, expiresAt }) => `${state} ${expiresAt}`).sort();
  assert.deepEqual(states, ['active null', `rotated ${oldKeyEndsAt}`]);
});

test('keys rotate with --overlap ends the old key after the overlap', async (t) => {
  const { print, readJson } = await createWorld(t);
  const old = await readJson('keys create --plan free --account Zoo');
  const shown = await print(`keys rotate ${old.id} --overlap 1h`);
  assert.match(shown, /^the old key works until 2027-01-02T13:00:00\.000Z$/m);
  const [, successor = ''] = /^id {7}(\w+)$/m.exec(shown) ?? [];
  const ended = await readJson(`keys rotate ${successor} --overlap 0`);
  assert.equal(ended.oldKeyEndsAt, '2027-01-02T12:00:00.000Z');
});

test('keys revoke is idempotent: a second revoke prints the same', async (t) => {
  const { print, readJson } = await createWorld(t);
  const { id } = await readJson('keys create --plan free');
  for (let time = 0; time < 2; time += 1)
    assert.equal(await print(`keys revoke ${id}`), `${id} is revoked\n`);
  assert.deepEqual(await readJson(`keys revoke ${id}`), { id, state: 'revoked', webhooks: [] });
});

describe('keys list', () => {
  test('shows one key a line, with aligned columns', async (t) => {
    const { print, readJson, clock } = await createWorld(t);
    const one = await readJson('keys create --plan free --account "Acme Zoo" --scopes pets:read');
    clock.advance(60_000);
    const other = await readJson('keys create --plan pro --scopes pets:read');
    const starts = [one, other].map(({ key }) => `${key.slice(0, 11)}…`);
    assert.deepEqual((await print('keys list')).split('\n'), [
      'ID                    KEY           NAME  ACCOUNT           STATE   LAST USED',
      `${one.id}  ${starts[0]}  -     Acme Zoo          active  -`,
      `${other.id}  ${starts[1]}  -     ${other.account.padEnd(16)}  active  -`,
      '',
    ]);
  });

  test('with --json prints one JSON value, even for an empty store', async (t) => {
    const { readJson } = await createWorld(t);
    assert.deepEqual(await readJson('keys list'), []);
    const { id, key, account } = await readJson('keys create --plan free');
    const made = { id, name: null, account, plan: 'free', scopes: partnerScopes, start: key.slice(0, 11) };
    const never = { expiresAt: null, revokedAt: null, lastUsedAt: null, bannedUntil: null };
    const createdAt = '2027-01-02T12:00:00.000Z';
    assert.deepEqual(await readJson('keys list'), [{ ...made, state: 'active', createdAt, ...never }]);
  });
});

test('a name with control characters is escaped wherever it is shown', async (t) => {
  const { print, execute } = await createWorld(t);
  const account = 'left\u202eright';
  const shownName = String.raw`left\u{202e}right`;
  assert.ok((await print(['keys', 'create', '--plan', 'free', '--account', account])).includes(shownName));
  assert.ok((await print(['accounts', 'set-plan', account, '--plan', 'pro'])).startsWith(shownName));
  execute(`update accounts set name = '\x1b]0;owned\x07\x9b31m\r\nfree\u202e\u2028🦊'`);
  const json = await print('accounts list --json');
  assert.doesNotMatch(json.trimEnd(), /[\p{Cc}\p{Cf}\p{Zl}]/u);
  assert.equal(JSON.parse(json)[0].account, '\x1b]0;owned\x07\x9b31m\r\nfree\u202e\u2028🦊');
  for (const command of ['keys list', 'accounts list']) {
    const [, line = '', ...rest] = (await print(command)).split('\n');
    assert.ok(line.includes(String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{d}\u{a}free\u{202e}\u{2028}🦊`), line);
    assert.deepEqual(rest, ['']);
  }
});
