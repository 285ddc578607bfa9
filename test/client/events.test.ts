import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { untilWaiting } from '../support/instances.ts';
import { startRelay } from '../support/relay.ts';
import { expectFailure, openShop } from './shop.ts';

const { service, baseUrl, connect, client } = await openShop({ after });

const addPet = async (name = 'Rex') => (await client.pets.create({ name, categoryId: 2n ** 63n - 1n })).id;

test('follow returns existing events and then new ones', async () => {
  const { next } = await client.events.list({ after: 'now' });
  const id = await addPet();
  const seen: string[] = [];
  for await (const event of client.events.follow({ after: next })) {
    if (event.type === 'pet.added') {
      assert.deepEqual(event.data, { id, name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'available' });
      await client.orders.place({ petId: event.data.id });
    }
    if (event.type === 'pet.updated') assert.deepEqual(event.previous, { status: 'available' });
    seen.push(event.type);
    if (event.type === 'order.reserved') {
      assert.equal(event.data.petId, id);
      break;
    }
  }
  assert.deepEqual(seen, ['pet.added', 'pet.updated', 'order.reserved']);
});

test('a follower that stores the id of each event neither misses nor repeats an event after a restart', async () => {
  let { next: kept } = await client.events.list({ after: 'now' });
  const added: bigint[] = [];
  for (let count = 0; count < 5; count += 1) added.push(await addPet());
  const met: bigint[] = [];
  while (met.length < added.length)
    for await (const event of client.events.follow({ after: kept, limit: 3 })) {
      kept = event.id;
      if (event.type === 'pet.added') met.push(event.data.id);
      if (met.length % 2 === 0 || met.length === added.length) break;
    }
  assert.deepEqual(met, added);
});

test('a position is reported once all events before it are handled', async () => {
  const { next } = await client.events.list({ after: 'now' });
  for (let count = 0; count < 5; count += 1) await addPet();
  const told: number[] = [];
  let seen = 0;
  const onPosition = () => told.push(seen);
  for await (const _ of client.events.follow({ after: next, limit: 2, onPosition })) {
    seen += 1;
    if (seen === 5) break;
  }
  assert.deepEqual(told, [2, 4]);
});

test('a follower from now gets the event that happens while its connection breaks', async (t) => {
  const relay = await startRelay(t, baseUrl);
  const broken = connect({ baseUrl: relay.url, maxWaitMs: 1 });
  const next = broken.events.follow({ after: 'now' }).next();
  await untilWaiting(service.app, 1);
  relay.breakOff(1, 0);
  const first = await addPet();
  let isFound = false;
  next.then(() => {
    isFound = true;
  });
  while (!isFound) await addPet();
  assert.equal((await next).value.data.id, first);
});

test('a follower with a short timeout waits itself, because the service would wait too long', async () => {
  const asked: URL[] = [];
  const hasty = connect({
    timeoutMs: 900,
    fetch(url, init) {
      asked.push(new URL(url));
      // Without its signal, a request never times out on a busy machine.
      return fetch(url, { ...init, signal: null });
    },
  });
  const next = hasty.events.follow({ after: 'now' }).next();
  while (asked.length < 3) await new Promise((resolve) => setImmediate(resolve));
  const id = await addPet();
  assert.equal((await next).value.data.id, id);
  for (const { searchParams } of asked) assert.equal(searchParams.get('wait'), '0');
});

test('a page of events without a link to the next page is not from an Animal Store', async () => {
  const bare = connect({ fetch: async () => Response.json([]) });
  await expectFailure(bare.events.follow().next(), 'unexpected_answer');
});

test('a signal ends a waiting follower', async () => {
  const ended = new AbortController();
  const next = client.events.follow({ after: 'now', signal: ended.signal }).next();
  const rejected = assert.rejects(next, (error) => error === ended.signal.reason);
  await untilWaiting(service.app, 1);
  ended.abort();
  await rejected;
});
