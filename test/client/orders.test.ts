import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore, type Order } from '../../client/src/index.ts';
import { scopes } from '../../src/accounts/account.ts';
import { startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const { baseUrl } = service;
const client = new AnimalStore({ apiKey: await service.createKey(), baseUrl });
const manager = new AnimalStore({ apiKey: await service.createKey('pro', undefined, { scopes }), baseUrl });

const addPet = async () => (await client.pets.create({ name: 'Rex', categoryId: 1 })).id;

test('an order is placed, read, completed and returned', async () => {
  const petId = await addPet();
  const placed = await client.orders.place({ petId, holdSeconds: 60, reference: 'A-1' });
  assert.deepEqual([placed.petId, placed.status, placed.reference], [petId, 'reserved', 'A-1']);
  assert.equal(placed.response.status, 201);
  assert.deepEqual(await client.orders.get(placed.id), placed);
  assert.equal((await client.orders.complete(placed.id)).status, 'completed');
  assert.equal((await manager.orders.return(Number(placed.id))).status, 'returned');
});

test('two calls with the same idempotency key place one order', async () => {
  const petId = await addPet();
  const options = { idempotencyKey: 'cart-1' };
  const first = await client.orders.place({ petId }, options);
  await client.orders.cancel(first.id);
  const again = await client.orders.place({ petId }, options);
  assert.deepEqual([again, again.response.replayed], [first, true]);
});

test('orders are listed page by page with filters', async () => {
  const placed: bigint[] = [];
  for (let n = 0; n < 5; n += 1)
    placed.push((await client.orders.place({ petId: await addPet(), reference: 'walk & co' })).id);
  const walked: Order[] = [];
  for await (const order of client.orders.listAll({ reference: 'walk & co', status: 'reserved', limit: 2 }))
    walked.push(order);
  assert.deepEqual(
    walked.map(({ id }) => id),
    placed.toReversed(),
  );
  const [first] = walked;
  const { items } = await client.orders.list({ petId: first?.petId ?? 0n });
  assert.deepEqual(items, [first]);
});

test('refused calls throw errors with the documented codes, and nothing is sent for an invalid id', async () => {
  const { id, petId } = await client.orders.place({ petId: await addPet() });
  await expectFailure(client.orders.place({ petId }), 'pet_unavailable');
  await expectFailure(client.orders.place({ petId: 0 }), 'not_found');
  await expectFailure(client.orders.get(0), 'not_found');
  await client.orders.cancel(id);
  await expectFailure(client.orders.complete(id), 'order_closed');
  await expectFailure(client.orders.get(1.5), 'invalid_argument');
  await expectFailure(client.orders.place({ petId: 2 ** 60 }), 'invalid_argument');
});
