import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { verifyWebhook, type WebhookHeaders } from '../../client/src/index.ts';
import { startReceiver } from '../support/receiver.ts';
import { installCommand } from './command.ts';
import { openShop } from './shop.ts';

const { client, apiKey, baseUrl } = await openShop({ after }, { ENVIRONMENT: 'development' });
const program = await installCommand({ after });
const variables = { ANIMAL_STORE_KEY: apiKey, ANIMAL_STORE_URL: baseUrl };
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const addPet = (name = 'Rex') => client.pets.create({ name, categoryId: 2n ** 63n - 1n });

test('listen sends new events, signed with the secret that it prints', async (t) => {
  const receiver = await startReceiver(t);
  await addPet('Before');
  const listening = await program.listen(t, ['--forward-to', receiver.url], variables);
  const printed = (await listening.untilLine('secret: ')).replace('secret: ', '');
  await addPet('Rex é 猫');
  await receiver.untilReceived(1);
  const [{ body, headers }] = receiver.received as [(typeof receiver.received)[number]];
  const event = await verifyWebhook(body, headers as WebhookHeaders, printed);
  assert.equal(event?.type === 'pet.added' && event.data.name, 'Rex é 猫');
});

test('listen sends the same body and headers as a webhook of the service', async (t) => {
  const [own, foreign] = [await startReceiver(t), await startReceiver(t)];
  await program.listen(t, ['--forward-to', own.url, '--secret', secret], variables);
  const { id } = await client.webhooks.create({ url: foreign.url });
  t.after(() => client.webhooks.delete(id));
  await addPet('Rex "é" 猫\u2028');
  await Promise.all([own.untilReceived(1), foreign.untilReceived(1)]);
  assert.equal(own.received[0]?.body, foreign.received[0]?.body);
  for (const name of ['content-type', 'user-agent', 'webhook-id', 'content-length'])
    assert.equal(own.received[0]?.headers[name], foreign.received[0]?.headers[name], name);
});

test('listen prints one line for each event', async (t) => {
  const receiver = await startReceiver(t);
  const args = ['--forward-to', receiver.url, '--secret', secret];
  const listening = await program.listen(t, args, variables);
  await addPet();
  const line = await listening.untilLine('pet.added');
  assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}evt_\w+ {2}pet\.added {2}204 {2}\d+ ms$/);
});

test('listen sends only events of the given types', async (t) => {
  const receiver = await startReceiver(t);
  const args = ['--forward-to', receiver.url, '--secret', secret, '--types', 'pet.deleted,pet.updated'];
  await program.listen(t, args, variables);
  const { id } = await addPet();
  await client.pets.delete(id);
  await receiver.untilReceived(1);
  assert.equal(JSON.parse(receiver.received[0]?.body ?? '').type, 'pet.deleted');
});

test('listen sends all events after the one in --from', async (t) => {
  const receiver = await startReceiver(t);
  const { next } = await client.events.list({ after: 'now' });
  await addPet();
  await addPet();
  const { items } = await client.events.list({ after: next });
  const args = ['--forward-to', receiver.url, '--secret', secret, '--from', next];
  await program.listen(t, args, variables);
  await receiver.untilReceived(2);
  assert.deepEqual(
    receiver.listIds(),
    items.map(({ id }) => id),
  );
});

test('listen repeats a failed delivery before the next event', async (t) => {
  const receiver = await startReceiver(t);
  receiver.reactions.push(500, { status: 302, headers: { location: '/elsewhere' } });
  const args = ['--forward-to', receiver.url, '--secret', secret];
  const listening = await program.listen(t, args, variables);
  await addPet();
  await addPet();
  await receiver.untilReceived(4);
  const [first, second, third, next] = receiver.listIds();
  assert.deepEqual([second, third], [first, first]);
  assert.notEqual(next, first);
  assert.match(await listening.untilLine('500'), / {2}500 {2}\d+ ms {2}next attempt in 1 s$/);
});

test('listen ends with exit code 0 on SIGINT', async (t) => {
  const args = ['--forward-to', 'http://127.0.0.1:9/', '--secret', secret];
  const listening = await program.listen(t, args, variables);
  const { code, stderr } = await listening.stop();
  assert.deepEqual([code, stderr], [0, '']);
});

test('listen says where to go on when it ends', async (t) => {
  const receiver = await startReceiver(t);
  const args = ['--forward-to', receiver.url, '--secret', secret];
  const listening = await program.listen(t, args, variables);
  await addPet();
  await listening.untilLine('pet.added');
  await listening.stop();
  assert.equal(listening.lines.at(-1), `ended; to go on from here: --from ${receiver.listIds().at(-1)}`);
});

test('listen names a receiver that is not there as a webhook would', async (t) => {
  const args = ['--forward-to', 'http://127.0.0.1:9/', '--secret', secret];
  const listening = await program.listen(t, args, variables);
  await addPet();
  assert.match(await listening.untilLine('pet.added'), / {2}refused {2}/);
});

test('listen ends when the receiver answers 410', async (t) => {
  const receiver = await startReceiver(t);
  receiver.reactions.push(410);
  const listening = await program.listen(t, ['--forward-to', receiver.url, '--secret', secret], variables);
  await addPet();
  const { code, stderr } = await listening.ended;
  assert.deepEqual([code, stderr.includes('410')], [1, true]);
});

test('listen does not print the secret that it is given', async (t) => {
  const receiver = await startReceiver(t);
  const listening = await program.listen(t, ['--forward-to', receiver.url, '--secret', secret], variables);
  await listening.stop();
  assert.ok(!listening.lines.join().includes(secret));
});

for (const [what, args, own, message] of [
  ['no receiver', [], {}, /^animal-store-client: --forward-to must be an http or https address/],
  ['a wrong type', ['--forward-to', 'http://localhost/', '--types', 'pet'], {}, /must be one of pet\.added,/],
  ['an unknown option', ['--forward', 'http://localhost/'], {}, /--forward/],
  ['a wrong secret', ['--forward-to', 'http://localhost/', '--secret', 'whsec_%'], {}, /secret must be/],
  [
    'a short secret',
    ['--forward-to', 'http://localhost/', '--secret', 'abc'],
    {},
    /secret must be whsec_ followed/,
  ],
  ['no key', ['--forward-to', 'http://localhost/'], { ANIMAL_STORE_KEY: '' }, /ANIMAL_STORE_KEY/],
  ['no address', ['--forward-to', 'http://localhost/'], { ANIMAL_STORE_URL: '' }, /ANIMAL_STORE_URL/],
] as const)
  test(`listen with ${what} ends with one line and exit code 2`, async (t) => {
    const { code, stderr } = await program.run(t, ['listen', ...args], { ...variables, ...own });
    assert.match(stderr, message);
    assert.deepEqual([code, stderr.trimEnd().split('\n').length], [2, 1]);
  });

test('no output of listen contains the key', async (t) => {
  const { stdout, stderr } = await program.run(t, ['listen', '--forward-to', 'http://localhost/'], {
    ANIMAL_STORE_KEY: 'as_dev_wrong',
    ANIMAL_STORE_URL: baseUrl,
  });
  assert.match(stderr, /api_key_invalid/);
  assert.ok(!(stdout + stderr).includes('as_dev_wrong'));
});
