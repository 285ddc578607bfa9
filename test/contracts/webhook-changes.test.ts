import assert from 'node:assert/strict';
import { createAudit } from '../../src/audit/audit-log.ts';
import { hourMs } from '../../src/clock.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import { expireEvents, keptMs } from '../../src/events/expire-events.ts';
import type { Database } from '../../src/storage/database.ts';
import { readSecret } from '../../src/storage/store-facts.ts';
import type { WebhookChange, WebhookManager } from '../../src/webhooks/change-webhook.ts';
import { createOperatorWebhooks, type WebhookQuery } from '../../src/webhooks/operator-webhooks.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { fieldsOf } from '../accounts/world.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { addKey } from './store-contents.ts';
import { box, ids, mira, testsOn, toManager, type World } from './webhook-world.ts';

const noneDisabled = { owner: 0, operator: 0, gone: 0, failing: 0, restored: 0 };

function describeOwners(engine: Engine): void {
  const test = testsOn(engine);

  test('a webhook says why it is disabled, keeps its position and continues when it is enabled', async (world) => {
    const { receiver, sender, add, deliver, operator, expectSent } = world;
    const webhook = await add();
    await webhook.expect({ status: 'enabled', disabledBecause: null });
    const byOperator = (change: WebhookChange) => operator.change(webhook.id, change);
    for (const [change, status, disabledBecause] of [
      [webhook.change, 'disabled', 'owner'],
      [byOperator, 'disabled', 'owner'],
      [webhook.change, 'enabled', null],
      [byOperator, 'disabled', 'operator'],
      [byOperator, 'enabled', null],
    ] as const) {
      await change({ status });
      await webhook.expect({ status, disabledBecause });
    }
    receiver.reactions.push(410);
    for (let sent = 0; sent < 2; sent += 1) {
      await deliver(1);
      await webhook.expect({ status: 'disabled', disabledBecause: 'gone' });
    }
    assert.deepEqual(sender.noted, ['410', 'it answered 410']);
    assert.equal((await operator.readLag()).disabled.gone, 1);
    await webhook.expect({ after: null });
    await webhook.change({ status: 'enabled' });
    await sender.send();
    expectSent(1n, 1n, 2n);
  });

  test('a webhook that a later release puts on hold after a restore is shown with that reason', async (world) => {
    const { store, add, operator, sender, publish, expectSent } = world;
    const webhook = await add();
    await store.execute(`update webhooks set status = 'disabled', disabled_because = 'restored'`);
    await webhook.expect({ status: 'disabled', disabledBecause: 'restored' });
    assert.deepEqual((await operator.readLag()).disabled, { ...noneDisabled, restored: 1 });
    await publish(1);
    await webhook.change({ status: 'enabled' });
    await webhook.expect({ status: 'enabled', disabledBecause: null });
    await sender.send();
    expectSent(1n);
  });

  test('disabling a webhook that is on hold ends the hold', async (world) => {
    const { store, add, operator, reader } = world;
    const webhook = await add();
    const disabled = { status: 'disabled' } as const;
    for (const [disable, disabledBecause] of [
      [() => webhook.change(disabled), 'owner'],
      [() => operator.change(webhook.id, disabled), 'operator'],
      [() => operator.disableOfKey(reader.keyId), 'operator'],
    ] as const) {
      await store.execute(`update webhooks set status = 'disabled', disabled_because = 'restored'`);
      await webhook.change({ types: ['pet.added'] });
      await webhook.expect({ disabledBecause: 'restored' });
      await disable();
      await webhook.expect({ status: 'disabled', disabledBecause });
      assert.deepEqual(await operator.resumeAll(false), { resumed: [], failed: [] });
    }
  });

  test('an operator enables no webhook whose secrets no key decrypts', async (world) => {
    const { store, database, add, operator, reader } = world;
    const withoutKey = createSecretBox([]);
    const sealed = await add();
    const open = await createWebhooks(database, ids, withoutKey).add(
      { url: sealed.url, types: null },
      reader,
    );
    await store.execute(`update webhooks set status = 'disabled', disabled_because = 'restored'`);
    const keyless = createOperatorWebhooks(database, Date.now, withoutKey, mira);
    const problem = new RegExp(
      `^WEBHOOK_SECRET_KEY does not decrypt the secrets of ${sealed.id}: set the key`,
    );
    await assert.rejects(keyless.change(sealed.id, { status: 'enabled' }), { message: problem });
    const { resumed, failed } = await keyless.resumeAll(false);
    assert.deepEqual([resumed, failed.map(({ id }) => id)], [[open.id], [sealed.id]]);
    assert.match(`${failed[0]?.problem}`, problem);
    await sealed.expect({ status: 'disabled', disabledBecause: 'restored' });
    assert.deepEqual(await operator.resumeAll(false), { resumed: [sealed.id], failed: [] });
  });

  test('a webhook that an instance of 1.1.0 has enabled shows no reason', async ({ store, add }) => {
    const webhook = await add();
    await webhook.change({ status: 'disabled' });
    await store.execute(`update webhooks set status = 'enabled', disabled_because = 'failing'`);
    await webhook.expect({ status: 'enabled', disabledBecause: null });
    await webhook.change({ status: 'disabled' });
    await webhook.expect({ status: 'disabled', disabledBecause: 'owner' });
  });

  /** Deletes all events up to the last one, and sends. */
  async function sendAfterExpiry({ store, database, sender }: World, last: bigint): Promise<void> {
    await store.execute(`update events set at_ms = at_ms - ${keptMs + 1_000} where id <= ${last}`);
    await expireEvents(database);
    await sender.send();
  }

  test('a webhook is disabled if its next or every later event is deleted', async (world) => {
    const { add, publish, expectSent } = world;
    const webhook = await add();
    await publish(3);
    await sendAfterExpiry(world, 2n);
    await webhook.expect({ status: 'disabled' });
    expectSent();
    await webhook.change({ status: 'enabled', after: 2n });
    await sendAfterExpiry(world, 3n);
    await webhook.expect({ status: 'disabled', disabledBecause: 'failing', after: ids.write(2n) });
  });

  test('a webhook whose events were deleted can be enabled only together with after', async (world) => {
    const { sender, add, operator, publish, expectSent } = world;
    const webhook = await add();
    await publish(3);
    await sendAfterExpiry(world, 2n);
    for (const lost of [{ status: 'enabled' }, { after: 1n }] as const)
      await assert.rejects(webhook.change(lost), { code: 'position_lost' });
    await assert.rejects(operator.change(webhook.id, { status: 'enabled' }), /no longer kept/);
    await webhook.change({ status: 'enabled', after: 2n });
    await sender.send();
    expectSent(3n);
  });

  test('an account has at most 5 webhooks, even after concurrent requests', async (world) => {
    const { addBuyer, reader, webhooks, add } = world;
    const made = await Promise.allSettled(Array.from({ length: 12 }, () => add()));
    const refused = made.filter((one) => one.status === 'rejected');
    assert.equal(refused.length, 7);
    for (const { reason } of refused) assert.equal(reason.code, 'limit_reached', reason);
    const { items: listed } = await webhooks.list(reader.accountId, 100, null);
    assert.equal(listed.length, 5);
    await webhooks.remove(listed[0]?.id ?? '', reader);
    await add();
    await add({}, toManager(await addBuyer()));
  });

  test('a webhook never gets more than the key that created it may see, even after another key changes it', async (world) => {
    const { reader, addBuyer, add } = world;
    const all: WebhookManager = { ...reader, seesOrders: 'all' };
    const pets: WebhookManager = { ...reader, seesOrders: 'none' };
    const none: WebhookManager = { ...reader, seesPets: false, seesOrders: 'none' };
    const [types, url] = [['order.expired'] as const, 'https://a.example'];
    const ofPets = await add({}, pets);
    const catalogue = ['pet.added', 'pet.updated', 'pet.deleted', 'category.updated', 'category.deleted'];
    assert.deepEqual(ofPets.types, catalogue);
    const ofAll = await add({}, all);
    for (const act of [
      () => add({}, none),
      () => add({ types }, pets),
      () => ofPets.change({ types }, all),
      () => ofAll.change({ url }, reader),
      () => ofAll.rotate(reader),
      () => ofAll.ping(reader),
      () => ofAll.remove(reader),
    ])
      await assert.rejects(act(), { code: 'scope_missing' }, String(act));
    await ofAll.change({ types: ['pet.added'] });
    await ofAll.change({ url }, pets);
    await assert.rejects(ofAll.change({ types: ['pet.added', ...types] }, reader), {
      code: 'scope_missing',
      message: /order\.expired/,
    });
    const other: WebhookManager = { ...toManager(await addBuyer()), seesOrders: 'all' };
    for (const act of [() => ofAll.remove(other), () => ofAll.change({}, other)])
      await assert.rejects(act(), { code: 'not_found' });
  });

  test('a rotated secret still signs messages for 24 h', async (world) => {
    const { store, receiver, add, deliver } = world;
    const webhook = await add();
    assert.notEqual((await webhook.rotate()).secret, webhook.secret);
    for (const [hours, signatures] of [
      [0, 2],
      [23, 2],
      [1, 1],
    ] as const) {
      await store.execute(`update webhook_secrets set ends_at_ms = ends_at_ms - ${hours * hourMs}`);
      await deliver(1);
      const { headers } = receiver.received.at(-1) ?? assert.fail();
      assert.equal(String(headers['webhook-signature']).split(' ').length, signatures);
    }
  });

  test('a webhook has at most 10 secrets', async ({ store, add }) => {
    const webhook = await add();
    for (let count = 0; count < 10; count += 1) await webhook.rotate();
    assert.equal((await store.execute('select id from webhook_secrets')).length, 10);
  });

  test('the secrets in the store cannot be decrypted without the encryption key', async (world) => {
    const { store, addPet, sender, add } = world;
    const { secret } = await add();
    await addPet();
    const [row] = await store.execute<{ secret: Uint8Array }>('select secret from webhook_secrets');
    const stored = Buffer.from(row?.secret ?? []);
    assert.equal(stored.indexOf(Buffer.from(secret.slice('whsec_'.length), 'base64')), -1);
    assert.equal(stored.length, 1 + 12 + 16 + 32);
    const spoilt = engine.name === 'SQLite' ? `cast(x'01' || secret as blob)` : `'\\x01'::bytea || secret`;
    await store.execute(`update webhook_secrets set secret = ${spoilt}`);
    await sender.send(2);
    assert.deepEqual(sender.noted, ['sealed']);
  });
}

function describeOperators(engine: Engine): void {
  const test = testsOn(engine);
  test('an operator lists the webhooks of all accounts in pages, with their lag', async (world) => {
    const { addBuyer, add, operator, publish } = world;
    const first = await add();
    await publish(3);
    const second = await add({}, toManager(await addBuyer()));
    const third = await add({ types: ['pet.added'] });
    await operator.change(first.id, { status: 'disabled' });
    const list = (query: Partial<WebhookQuery> = {}) => operator.listPage({ limit: 2, ...query });
    const page = await list();
    const none = { eventsBehind: 0, behindMs: null };
    assert.equal(page.items.length, 2);
    assert.partialDeepStrictEqual(page.items[0], { ...none, id: third.id, account: 'buyer 1' });
    assert.partialDeepStrictEqual(page.items[1], { ...none, id: second.id, account: 'buyer 2' });
    const rest = await list({ newestId: page.next });
    const [last] = rest.items;
    assert.partialDeepStrictEqual(last, { id: first.id, eventsBehind: 3, position: 0n });
    assert.deepEqual([rest.items.length, rest.next], [1, null]);
    assert.ok((last?.behindMs ?? -1) >= 0);
    const find = async (query: Partial<WebhookQuery>) => (await list(query)).items.map(({ id }) => id);
    assert.deepEqual(await find({ status: 'disabled' }), [first.id]);
    assert.deepEqual(await find({ account: 'buyer 2' }), [second.id]);
    assert.deepEqual(await find({ account: 'buyer 1', status: 'enabled' }), [third.id]);
    await assert.rejects(find({ account: 'None' }), { name: 'OperatorError' });
    const everyId = (await operator.list(null)).map(({ id }) => id);
    assert.deepEqual(everyId, [first.id, second.id, third.id]);
  });

  test('positions that a restore has skipped do not count as events that a webhook is behind', async (world) => {
    const { store, add, operator, publish } = world;
    await add();
    await publish(3);
    await store.execute('insert into event_gaps (lost_after, skipped_to) values (3, 1000003)');
    const [listed] = await operator.list(null);
    assert.equal(listed?.eventsBehind, 3);
    await store.execute('update webhooks set position = 500000');
    assert.equal((await operator.list(null))[0]?.eventsBehind, 0);
  });

  test('deleted events do not count as events that a webhook is behind', async (world) => {
    const { store, add, operator, publish } = world;
    await add();
    await publish(3);
    await store.execute('update event_horizon set deleted_to = 2');
    assert.equal((await operator.list(null))[0]?.eventsBehind, 1);
    await store.execute('update event_horizon set deleted_to = 1000003');
    assert.equal((await operator.list(null))[0]?.eventsBehind, 0);
  });

  test('the webhooks of a key are disabled in one transaction, also if one of them has just been deleted', async (world) => {
    const { store, database, reader, add } = world;
    const second = { ...reader, ...(await addKey(database, reader.accountId, 'key_2')) };
    const [deleted, kept, other] = [await add(), await add(), await add({}, second)];
    const transact: Database['transact'] = async (transaction, input) => {
      await store.execute(`delete from webhooks where public_id = '${deleted.id}'`);
      return await database.transact(transaction, input);
    };
    await createOperatorWebhooks({ ...database, transact }, Date.now, box).disableOfKey('key_1');
    await kept.expect({ disabledBecause: 'operator' });
    await other.expect({ disabledBecause: null });
  });

  test('the greatest lag ignores disabled webhooks and suspended accounts', async (world) => {
    const { store, addBuyer, add, operator, publish } = world;
    assert.deepEqual(await operator.readLag(), { farthest: [], disabled: noneDisabled });
    const other = toManager(await addBuyer());
    const [disabled, paused] = [await add(), await add({}, other)];
    await publish(1);
    const behind = await add();
    const readFarthest = async () => (await operator.readLag()).farthest[0];
    assert.equal((await readFarthest())?.id, disabled.id);
    await operator.change(disabled.id, { status: 'disabled' });
    await store.execute(`update accounts set suspended_at_ms = 1 where id = ${other.accountId}`);
    assert.deepEqual(await operator.readLag(), { farthest: [], disabled: { ...noneDisabled, operator: 1 } });
    await publish(1);
    const farthest = await readFarthest();
    assert.equal(farthest?.id, behind.id);
    assert.ok((farthest?.behindMs ?? -1) >= 0);
    await store.execute('update accounts set suspended_at_ms = null');
    assert.equal((await readFarthest())?.id, paused.id);
  });

  test('a replay by an operator sends events again', async (world) => {
    const { sender, add, deliver, operator, expectSent } = world;
    const { id } = await add();
    await deliver(3);
    for (let count = 0; count < 2; count += 1) await operator.change(id, { after: 1n });
    await sender.send();
    expectSent(1n, 2n, 3n, 2n, 3n);
    await assert.rejects(operator.change(id, { after: 4n }), { code: 'invalid_body' });
    await assert.rejects(operator.change('wh_none', { after: 'now' }), { name: 'OperatorError' });
  });

  test('the audit log has the old and the new position of each replay as event ids', async (world) => {
    const { database, add, deliver, operator } = world;
    const { id } = await add();
    await deliver(3);
    for (let count = 0; count < 2; count += 1) await operator.change(id, { after: 1n });
    const { write } = createEventIds(await readSecret(database, 'cursor'));
    const { items: entries } = await createAudit(database, Date.now).list({ limit: 9 });
    const replayed = [mira, 'webhook.replayed', id, 'buyer 1'];
    const expected = [1n, 3n].map((from) => [...replayed, { after: write(from) }, { after: write(1n) }]);
    const found = fieldsOf(entries, 'actor', 'action', 'subject', 'account', 'before', 'after');
    assert.deepEqual(found, expected);
  });
}

await describeOnEngines('the changes of webhooks', (engine) => {
  describeOwners(engine);
  describeOperators(engine);
});
