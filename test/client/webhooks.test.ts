import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { Webhook as Verifier } from 'standardwebhooks';
import { Webhook as ForeignVerifier, WebhookVerificationError } from 'svix';
import { verifyWebhook } from '../../client/src/index.ts';
import { startReceiver } from '../support/receiver.ts';
import { expectFailure, openShop } from './shop.ts';

const { client } = await openShop({ after }, { ENVIRONMENT: 'development' });
const big = 2n ** 63n - 1n;

test('a webhook is created, read, listed, changed, pinged, rotated and deleted', async (t) => {
  const receiver = await startReceiver(t);
  const made = await client.webhooks.create({ url: receiver.url, types: ['pet.added'] });
  assert.match(made.secret, /^whsec_/);
  assert.equal(made.lastAttempt, null);
  const { id } = await client.webhooks.ping(made.id);
  await receiver.untilReceived(1);
  assert.equal(receiver.received[0]?.id, id);
  let got = await client.webhooks.get(made.id);
  while (got.lastAttempt === null) got = await client.webhooks.get(made.id);
  assert.equal(got.lastAttempt.result, 204);
  const [attempt] = await client.webhooks.listAttempts(made.id);
  assert.deepEqual([attempt?.eventId, attempt?.result], [id, 204]);
  assert.deepEqual((await client.webhooks.list()).items, [got]);
  assert.deepEqual(await Array.fromAsync(client.webhooks.listAll({ limit: 1 })), [got]);
  const changed = await client.webhooks.update(made.id, { status: 'disabled', after: 'now' });
  assert.equal(changed.status, 'disabled');
  assert.notEqual((await client.webhooks.rotateSecret(made.id)).secret, made.secret);
  await client.webhooks.delete(made.id);
  await expectFailure(client.webhooks.get(made.id), 'not_found');
});

test('the client, two libraries and OpenSSL verify a sent event', async (t) => {
  const receiver = await startReceiver(t);
  const { secret, id } = await client.webhooks.create({ url: receiver.url, types: ['pet.added'] });
  const { secret: rotated } = await client.webhooks.rotateSecret(id);
  const { next } = await client.events.list({ after: 'now' });
  await client.pets.create({ name: 'Rex é 猫', categoryId: big });
  const { items } = await client.events.list({ after: next });
  await receiver.untilReceived(1);
  const { body, headers } = receiver.received[0] ?? assert.fail();
  const texts = headers as Record<string, string>;
  await client.webhooks.sendEvent(id, { eventId: texts['webhook-id'] ?? '' });
  await receiver.untilReceived(2);
  assert.equal(receiver.received[1]?.body, body);
  for (const one of [secret, rotated]) {
    const event = await verifyWebhook(body, texts, one);
    assert.deepEqual([event], items);
    assert.equal(event?.type, 'pet.added');
    assert.deepEqual(event?.data, { ...event?.data, name: 'Rex é 猫', categoryId: big });
    const upper = Object.entries(texts).map(([name, text]) => [name.toUpperCase(), [text]]);
    for (const headers of [new Headers(texts), Object.fromEntries(upper)])
      assert.deepEqual(await verifyWebhook(Buffer.from(body), headers, one), event);
    new Verifier(one).verify(body, texts);
    const foreign = new ForeignVerifier(one);
    assert.deepEqual(foreign.verify(body, texts), JSON.parse(body));
    assert.throws(() => foreign.verify(body.replace('Rex', 'Max'), texts), WebhookVerificationError);
    const key = Buffer.from(one.slice('whsec_'.length), 'base64');
    const signed = `${texts['webhook-id']}.${texts['webhook-timestamp']}.${body}`;
    const code = createHmac('sha256', key).update(signed).digest('base64');
    assert.ok(texts['webhook-signature']?.split(' ').includes(`v1,${code}`));
  }
  await client.webhooks.delete(id);
});

test('a message that is changed, old or signed with another secret is refused', async () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const at = Math.floor(Date.now() / 1_000);
  const sign = (id: string, seconds: number, body: string, by = secret) => ({
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v2,x ${new Verifier(by).sign(id, new Date(seconds * 1_000), body)}`,
  });
  const good = sign('evt_1', at, '{"a":1}');
  assert.deepEqual(await verifyWebhook('{"a":1}', good, secret), { a: 1n });
  const refused: [body: string, headers: Record<string, string>][] = [
    ['{"a":2}', good],
    ['{"a":1}', { ...good, 'webhook-id': 'evt_2' }],
    ['{"a":1}', { ...good, 'webhook-timestamp': String(at + 1) }],
    ['{"a":1}', { ...good, 'webhook-signature': 'v1,%%%' }],
    ['{"a":1}', { ...good, 'webhook-signature': '' }],
    ['{"a":1}', { 'webhook-id': 'evt_1' }],
    ['{"a":1}', sign('evt_1', at - 400, '{"a":1}')],
    ['{"a":1}', sign('evt_1', at + 400, '{"a":1}')],
    ['{"a":1}', sign('evt_1', at, '{"a":1}', `whsec_${Buffer.alloc(32, 2).toString('base64')}`)],
  ];
  for (const [body, headers] of refused) assert.equal(await verifyWebhook(body, headers, secret), null);
});
