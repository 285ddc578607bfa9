import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { createWorld } from '../support/command-line.ts';
import type { Ending } from '../support/service.ts';

const one = 'wh_8tKq2ZmX0aLr5VnC';
const other = 'wh_9tKq2ZmX0aLr5VnC';

/** Creates a store with two webhooks of two accounts. The first webhook has made an attempt. */
async function createShop(t: Ending) {
  const world = await createWorld(t);
  const { id: keyId } = await world.readJson('keys create --plan pro --account Zoo');
  await world.print('keys create --plan pro --account Shop');
  world.execute(`insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders, status, position,
      revision, failures, next_attempt_at_ms, last_attempt_at_ms, last_result, created_at_ms) values
    ('${one}', 1, '${keyId}', 'https://zoo.example/', 'pet.added pet.deleted', 1, 'own', 'enabled', 0, 0, 3, 9, 1798891200000, '500', 0),
    ('${other}', 2, 'key_2', 'https://shop.example/', 'order.expired', 0, 'own', 'disabled', 0, 0, 0, 0, null, null, 0)`);
  return { ...world, keyId };
}

test('webhooks list shows the webhooks of all accounts or of one account', async (t) => {
  const { print, readJson, keyId } = await createShop(t);
  const shown = await print('webhooks list');
  assert.match(shown, /^ID +ACCOUNT +STATUS +URL +RESULT\n/);
  assert.match(shown, /wh_8\w+ +Zoo +enabled +https:\/\/zoo.example\/ +500\n/);
  const listed = await readJson('webhooks list');
  const told = { id: one, account: 'Zoo', url: 'https://zoo.example/', types: ['pet.added', 'pet.deleted'] };
  const lastAttempt = { at: '2027-01-02T12:00:00.000Z', result: '500' };
  const state = { status: 'enabled', disabledBecause: null, key: keyId, lastAttempt };
  assert.deepEqual(listed[0], { ...told, ...state });
  assert.equal(listed[1].lastAttempt, null);
  assert.deepEqual(await readJson('webhooks list --account Shop'), [listed[1]]);
});

test('webhooks disable and webhooks enable restart the retries', async (t) => {
  const { print, readJson, execute } = await createShop(t);
  const select = `select status, failures, revision from webhooks where public_id = '${one}'`;
  assert.equal(await print(`webhooks disable ${one}`), `${one} is disabled\n`);
  assert.deepEqual({ ...execute(select)[0] }, { status: 'disabled', failures: 0, revision: 1 });
  assert.deepEqual(await readJson(`webhooks enable ${one}`), { id: one, status: 'enabled' });
  assert.deepEqual({ ...execute(select)[0] }, { status: 'enabled', failures: 0, revision: 2 });
});

test('the audit log has every change of the status of a webhook by a command', async (t) => {
  const { print, readJson, keyId } = await createShop(t);
  await print(`webhooks disable ${one}`);
  await print(`webhooks enable ${one}`);
  await print(`keys revoke ${keyId} --disable-webhooks`);
  const log = await readJson(`audit --of ${one}`);
  const [enabled, disabled] = [{ status: 'enabled' }, { status: 'disabled' }];
  const by = { kind: 'command', name: userInfo().username };
  const disabling = { action: 'webhook.disabled', account: 'Zoo', before: enabled, after: disabled, by };
  const enabling = { action: 'webhook.enabled', account: 'Zoo', before: disabled, after: enabled, by };
  assert.equal(log.length, 3);
  assert.partialDeepStrictEqual(log, [disabling, enabling, disabling]);
  // A partial comparison would accept further fields, such as a secret.
  for (const { before, after } of log)
    assert.deepEqual([Object.keys(before), Object.keys(after)], [['status'], ['status']]);
});

test('keys revoke names the webhooks that the key created', async (t) => {
  const { print, keyId } = await createShop(t);
  const told = `${keyId} is revoked\nits webhook ${one} to https://zoo.example/ is enabled\n`;
  assert.equal(await print(`keys revoke ${keyId}`), told);
});

test('keys revoke --disable-webhooks disables the webhooks of a key, even of a revoked one', async (t) => {
  const { print, readJson, keyId } = await createShop(t);
  await print(`keys revoke ${keyId}`);
  const webhooks = [{ id: one, url: 'https://zoo.example/', status: 'disabled' }];
  const revoked = await readJson(`keys revoke ${keyId} --disable-webhooks`);
  assert.deepEqual(revoked, { id: keyId, state: 'revoked', webhooks });
});
