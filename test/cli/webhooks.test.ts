import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Ending, makeFolder } from '../support/service.ts';
import { runInProcess } from './run-command-line.ts';

const one = 'wh_8tKq2ZmX0aLr5VnC';
const other = 'wh_9tKq2ZmX0aLr5VnC';

/** Creates a store with two webhooks of two accounts. The first webhook has made an attempt. */
async function makeStore(t: Ending) {
  const path = join(await makeFolder(t), 'store.db');
  const url = `sqlite:${path}`;
  const run = (...args: string[]) => runInProcess(args, url);
  await run('migrate');
  const { stdout } = await run('keys', 'create', '--plan', 'pro', '--account', 'Zoo', '--json');
  await run('keys', 'create', '--plan', 'pro', '--account', 'Shop');
  const { id: keyId } = JSON.parse(stdout) as { id: string };
  const file = new DatabaseSync(path);
  file.exec(`insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders, status, position,
      revision, failures, next_attempt_at_ms, last_attempt_at_ms, last_result, created_at_ms) values
    ('${one}', 1, '${keyId}', 'https://zoo.example/', 'pet.added pet.deleted', 1, 'own', 'enabled', 0, 0, 3, 9, 1798891200000, '500', 0),
    ('${other}', 2, 'key_2', 'https://shop.example/', 'order.expired', 0, 'own', 'disabled', 0, 0, 0, 0, null, null, 0)`);
  return { run, keyId, file };
}

test('webhooks list shows the webhooks of all accounts or of one account', async (t) => {
  const { run, keyId } = await makeStore(t);
  const { stdout } = await run('webhooks', 'list');
  assert.match(stdout, /^ID +ACCOUNT +STATUS +URL +RESULT\n/);
  assert.match(stdout, /wh_8\w+ +Zoo +enabled +https:\/\/zoo.example\/ +500\n/);
  const listed = JSON.parse((await run('webhooks', 'list', '--json')).stdout);
  assert.deepEqual(listed[0], {
    id: one,
    account: 'Zoo',
    url: 'https://zoo.example/',
    types: ['pet.added', 'pet.deleted'],
    status: 'enabled',
    key: keyId,
    lastAttempt: { at: '2027-01-02T12:00:00.000Z', result: '500' },
  });
  assert.equal(listed[1].lastAttempt, null);
  const ofShop = JSON.parse((await run('webhooks', 'list', '--account', 'Shop', '--json')).stdout);
  assert.deepEqual(ofShop, [listed[1]]);
  const { code, stderr } = await run('webhooks', 'list', '--account', 'None');
  assert.deepEqual(
    [code, stderr],
    [1, 'error: there is no account "None": "accounts list" shows all accounts\n'],
  );
});

test('webhooks disable and enable change a webhook and restart its retries', async (t) => {
  const { run, file } = await makeStore(t);
  const read = () => ({
    ...file.prepare(`select status, failures, revision from webhooks where public_id = '${one}'`).get(),
  });
  assert.deepEqual(await run('webhooks', 'disable', one), {
    code: 0,
    stdout: `${one} is disabled\n`,
    stderr: '',
  });
  assert.deepEqual(read(), { status: 'disabled', failures: 0, revision: 1 });
  const { stdout } = await run('webhooks', 'enable', one, '--json');
  assert.deepEqual(JSON.parse(stdout), { id: one, status: 'enabled' });
  assert.deepEqual(read(), { status: 'enabled', failures: 0, revision: 2 });
});

test('every webhooks disable, webhooks enable and keys revoke --disable-webhooks is in the audit log', async (t) => {
  const { run, keyId } = await makeStore(t);
  for (const args of [
    ['webhooks', 'disable', one],
    ['webhooks', 'disable', one],
    ['webhooks', 'enable', one],
    ['webhooks', 'enable', one],
    ['keys', 'revoke', keyId, '--disable-webhooks'],
  ])
    assert.equal((await run(...args)).code, 0);
  const log = JSON.parse((await run('audit', '--of', one, '--json')).stdout) as Record<string, unknown>[];
  assert.deepEqual(
    log.map(({ action, account, before, after }) => [action, account, before, after]),
    [
      ['webhook.disabled', 'Zoo', { status: 'enabled' }, { status: 'disabled' }],
      ['webhook.enabled', 'Zoo', { status: 'enabled' }, { status: 'enabled' }],
      ['webhook.enabled', 'Zoo', { status: 'disabled' }, { status: 'enabled' }],
      ['webhook.disabled', 'Zoo', { status: 'disabled' }, { status: 'disabled' }],
      ['webhook.disabled', 'Zoo', { status: 'enabled' }, { status: 'disabled' }],
    ],
  );
  assert.deepEqual(log[0]?.['by'], { kind: 'command', name: userInfo().username });
});

test('webhooks prints one line for an unknown webhook or a webhook whose next event is deleted', async (t) => {
  const { run, file } = await makeStore(t);
  for (const command of ['enable', 'disable'])
    assert.deepEqual(await run('webhooks', command, 'wh_1'), {
      code: 1,
      stdout: '',
      stderr: 'error: there is no webhook "wh_1": "webhooks list" shows them all\n',
    });
  file.exec('update event_horizon set deleted_to = 2');
  const { code, stderr } = await run('webhooks', 'enable', other);
  assert.equal(code, 1);
  assert.match(stderr, /^error: the events after the position of wh_9\w+ are no longer kept: [^\n]*\n$/);
});

test('keys revoke names the webhooks that the key created, and disables them with --disable-webhooks', async (t) => {
  const { run, keyId } = await makeStore(t);
  const named = await run('keys', 'revoke', keyId);
  assert.equal(named.stdout, `${keyId} is revoked\nits webhook ${one} to https://zoo.example/ is enabled\n`);
  const made = await makeStore(t);
  const { stdout } = await made.run('keys', 'revoke', made.keyId, '--disable-webhooks', '--json');
  assert.deepEqual(JSON.parse(stdout), {
    id: made.keyId,
    state: 'revoked',
    webhooks: [{ id: one, url: 'https://zoo.example/', status: 'disabled' }],
  });
});
