import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { createWorld, runInProcess } from '../support/command-line.ts';
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
  const nextAttemptAt = '1970-01-01T00:00:00.009Z';
  const state = { status: 'enabled', disabledBecause: null, key: keyId, lastAttempt, nextAttemptAt };
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

/** Creates the shop, with the first webhook on hold because of a restore. */
async function createRestored(t: Ending) {
  const world = await createShop(t);
  const { execute } = world;
  execute(
    `update webhooks set status = 'disabled', disabled_because = 'restored' where public_id = '${one}'`,
  );
  execute(`insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'available', 0)`);
  const readWebhook = (id: string) => ({
    ...execute(`select status, position from webhooks where public_id = '${id}'`)[0],
  });
  return { ...world, readWebhook };
}

test('webhooks resume --all enables the webhooks that a restore has put on hold, and no others', async (t) => {
  const { readJson, readWebhook } = await createRestored(t);
  assert.deepEqual(await readJson('webhooks resume --all'), { resumed: [one], failed: [] });
  assert.deepEqual(readWebhook(one), { status: 'enabled', position: 0 });
  assert.equal(readWebhook(other)['status'], 'disabled');
});

test('webhooks resume --from-now skips the events until now', async (t) => {
  const { print, readWebhook } = await createRestored(t);
  assert.equal(await print(`webhooks resume ${one} --from-now`), 'resumed 1 webhook from now\n');
  assert.deepEqual(readWebhook(one), { status: 'enabled', position: 1 });
});

test('webhooks resume --all names the webhooks whose events are gone, and resumes the others', async (t) => {
  const { execute, url, readWebhook } = await createRestored(t);
  execute(
    `update webhooks set status = 'disabled', disabled_because = 'restored', position = 1 where public_id = '${other}'`,
  );
  execute('delete from events');
  execute('update event_horizon set deleted_to = 1');
  const { code, stdout, stderr } = await runInProcess('webhooks resume --all', url);
  assert.deepEqual({ code, stdout }, { code: 1, stdout: 'resumed 1 webhook from their positions\n' });
  assert.match(stderr, new RegExp(`^error: 1 webhook not resumed: .*${one}.*\n$`));
  assert.equal(readWebhook(other)['status'], 'enabled');
});

test('webhooks show has the position of a webhook and how far it is behind', async (t) => {
  const { print, readJson } = await createRestored(t);
  const shown = await readJson(`webhooks show ${one}`);
  assert.partialDeepStrictEqual(shown, {
    id: one,
    disabledBecause: 'restored',
    after: null,
    eventsBehind: 1,
  });
  assert.match(await print(`webhooks show ${one}`), /^behind +1 event of all types/m);
});

test('webhooks attempts lists the attempts of a webhook', async (t) => {
  const { execute, readJson } = await createShop(t);
  execute(`insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms)
    values (1, 'evt_8tKq2ZmX0aLr5VnC', 1798891200000, '500', 7)`);
  const [attempt] = await readJson(`webhooks attempts ${one}`);
  assert.partialDeepStrictEqual(attempt, { at: '2027-01-02T12:00:00.000Z', result: 500, durationMs: 7 });
});

const insertAttempt = (answer: string) =>
  `insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms, attempt, is_manual, answer_start)
    values (1, 'evt_8tKq2ZmX0aLr5VnC', unixepoch() * 1000, '500', 7, 3, 1, cast('${answer}' as blob))`;

test('webhooks attempts escapes what a terminal would interpret in an answer', async (t) => {
  const { execute, print, readJson } = await createShop(t);
  execute(insertAttempt('\u001b[31mno\u202e\n'));
  const shown = await print(`webhooks attempts ${one}`);
  assert.match(shown, /^AT +EVENT +RESULT +ATTEMPT +MS\n.* 500 +3 by hand +7\n$/);
  assert.partialDeepStrictEqual(await readJson(`webhooks attempts ${one}`), [
    { attempt: 3, isManual: true, answerStart: '\u001b[31mno\u202e\n' },
  ]);
});

test('webhooks show has the next attempt', async (t) => {
  const { print } = await createShop(t);
  assert.match(await print(`webhooks show ${one}`), /^next attempt +1970-01-01 00:00Z$/m);
});

test('webhooks show escapes what a terminal would interpret in the last answer', async (t) => {
  const { execute, print } = await createShop(t);
  execute(insertAttempt('\u001b[31mno'));
  assert.match(await print(`webhooks show ${one}`), /^answer +\\u\{1b\}\[31mno$/m);
});

test('webhooks show counts the events that a disabled webhook can still get', async (t) => {
  const { print, readJson } = await createRestored(t);
  assert.match(await print(`webhooks show ${one}`), /^can still get +1 event$/m);
  const left = { events: 1, hasMore: false, isPositionLost: false };
  assert.partialDeepStrictEqual(await readJson(`webhooks show ${one}`), { left });
});

test('webhooks show says that the position of a disabled webhook is lost', async (t) => {
  const { execute, print } = await createRestored(t);
  execute('delete from events');
  execute('update event_horizon set deleted_to = 1');
  assert.match(
    await print(`webhooks show ${one}`),
    /^can still get +0 events, but its position is lost: .*replay/m,
  );
});

test('webhooks replay sets the position of a webhook, and says if it stays disabled', async (t) => {
  const { print, readWebhook } = await createRestored(t);
  const stays = `${one} stays disabled; "webhooks enable ${one}" continues after now\n`;
  assert.equal(await print(`webhooks replay ${one} --after now`), stays);
  assert.deepEqual(readWebhook(one), { status: 'disabled', position: 1 });
  await print(`webhooks enable ${one}`);
  assert.equal(await print(`webhooks replay ${one} --after now`), `${one} continues after now\n`);
});
