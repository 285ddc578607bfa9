import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore } from '../../client/src/index.ts';
import { untilWaiting } from '../support/event-waits.ts';
import { startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const { baseUrl } = service;
const client = new AnimalStore({ apiKey: await service.createKey(), baseUrl });

const addPet = async (name = 'Rex') => (await client.pets.create({ name, categoryId: 2n ** 63n - 1n })).id;

test('follow returns existing events and then new ones, and the type of an event narrows its data', async () => {
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

test('a signal ends a waiting follower', async () => {
  const ended = new AbortController();
  const next = client.events.follow({ after: 'now', signal: ended.signal }).next();
  const rejected = assert.rejects(next, (error) => error === ended.signal.reason);
  await untilWaiting(service, 1);
  ended.abort();
  await rejected;
});

test('the service refuses an invalid position, and the client refuses a callback that is not a function', async () => {
  await expectFailure(client.events.list({ after: 'yesterday' }), 'invalid_parameter');
  await expectFailure(client.events.follow({ onPosition: 1 as never }).next(), 'invalid_argument');
});
