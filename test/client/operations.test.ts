import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Deprecation } from '../../client/src/index.ts';
import { scopes } from '../../src/accounts/account.ts';
import { operations } from '../../src/http/api/operations.ts';
import { nameMethod } from '../../src/http/docs-site/reference/samples.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { until } from '../support/processes.ts';
import { expectFailure, openShop } from './shop.ts';

const { service, connect } = await openShop({ after });
const apiKey = await service.createKey('pro', undefined, { account: 'Acme Zoo', scopes });
const client = connect({ apiKey });

type Fields = Readonly<Record<string, unknown>>;

const addPet = async (categoryId = 1n) => (await client.pets.create({ name: 'Rex', categoryId })).id;
const idsOf = (items: readonly { id: bigint }[]) => items.map(({ id }) => id);

test('the client has a method for each operation', () => {
  for (const operation of operations) {
    const name = nameMethod(operation);
    const parts = name.split('.');
    const method = parts.reduce<unknown>((at, part) => (at as Fields | undefined)?.[part], client);
    assert.equal(typeof method, 'function', `client/src/${operation.tag}.ts has no method ${name}`);
  }
});

test('the account shows plan, key, windows and open holds', async () => {
  const shown = await client.account();
  const { account, plan, key, minute, day, openHolds, response } = shown;
  assert.equal(JSON.parse(JSON.stringify(shown)).minute.limit, 300);
  assert.deepEqual([account, plan, openHolds, response.status], ['Acme Zoo', 'pro', 0, 200]);
  assert.deepEqual(key.scopes, scopes);
  assert.deepEqual([minute.limit, day.limit, day.remaining], [300, 10_000, 9_999]);
});

test('each client reports only a deprecated operation, once, with its dates and its replacement', async () => {
  for (let again = 0; again < 2; again += 1) {
    const told: Deprecation[] = [];
    const { pets } = connect({ onDeprecation: (one) => told.push(one) });
    await pets.list();
    await assert.rejects(pets.get(0));
    await pets.get(await addPet());
    assert.deepEqual(told, [
      {
        operation: 'getPet',
        since: new Date('2025-12-05'),
        removedAt: new Date('2030-12-05'),
        successor: '/v1/pets',
        message:
          'Animal Store: GET /pets/{petId} (getPet) is deprecated and is removed on 2030-12-05; use /v1/pets instead',
      },
    ]);
  }
});

test('an animal is updated and deleted only if its ETag still matches', async () => {
  const id = await addPet();
  const first = await client.pets.update(id, { categoryId: int64Max, status: 'sold' });
  assert.deepEqual(first, { id, name: 'Rex', categoryId: int64Max, status: 'sold' });
  const ifMatch = first.response.headers.get('etag');
  const second = await client.pets.update(Number(id), { name: 'Max' }, { ifMatch });
  assert.equal(second.name, 'Max');
  await expectFailure(client.pets.update(id, { name: 'Ben' }, { ifMatch }), 'precondition_failed');
  await expectFailure(client.pets.delete(id, { ifMatch }), 'precondition_failed');
  assert.equal(await client.pets.delete(id), undefined);
  await expectFailure(client.pets.delete(id), 'not_found');
});

test('an animal is edited without a read by the ETag of its creation', async () => {
  const idempotencyKey = 'edited-without-a-read';
  const create = () => client.pets.create({ name: 'Rex', categoryId: 1 }, { idempotencyKey });
  const { id, response: first } = await create();
  assert.ok(first.etag !== null);
  const again = await create();
  assert.deepEqual([again.response.replayed, again.response.etag], [true, first.etag]);
  const max = await client.pets.update(id, { name: 'Max' }, { ifMatch: first.etag });
  const ben = await client.pets.update(id, { name: 'Ben' }, { ifMatch: max.response.etag });
  assert.equal(ben.name, 'Ben');
  await expectFailure(client.pets.delete(id, { ifMatch: first.etag }), 'precondition_failed');
});

test('animals are listed by their category', async () => {
  const ids: bigint[] = [];
  for (let count = 0; count < 3; count += 1) ids.unshift(await addPet(77n));
  assert.deepEqual(idsOf(await Array.fromAsync(client.pets.listAll({ categoryId: 77, limit: 2 }))), ids);
});

test('animals are found by more ids than one request may name', async () => {
  const [last, first] = [await addPet(), await addPet()];
  const { items } = await client.pets.list({ id: [first, Number(last)], status: 'available' });
  assert.deepEqual(idsOf(items), [first, last]);
  const many = [last, ...Array.from({ length: 150 }, (_, n) => 10_000 + n), first, first];
  assert.deepEqual(idsOf(await client.pets.find(many)), [first, last]);
  assert.deepEqual(await client.pets.find([]), []);
});

test('categories are created, listed and deleted', async () => {
  assert.equal((await client.categories.put(3, { name: 'Dogs' })).response.status, 201);
  const renamed = await client.categories.put(3n, { name: 'Cats' });
  assert.deepEqual([renamed, renamed.response.status], [{ id: 3n, name: 'Cats' }, 200]);
  await client.categories.put(int64Min, { name: 'First' });
  const listed = await Array.fromAsync(client.categories.listAll({ limit: 1 }));
  assert.deepEqual(listed, [{ id: int64Min, name: 'First' }, renamed]);
  await client.categories.delete(3);
  assert.deepEqual((await client.categories.list()).items, [{ id: int64Min, name: 'First' }]);
});

test('the inventory counts all animals or the animals of a category, in numbers', async () => {
  for (const status of ['available', 'sold', 'sold'] as const)
    await client.pets.create({ name: 'Rex', categoryId: int64Min, status });
  const { asOf, ...some } = await client.store.inventory({ categoryId: int64Min });
  assert.deepEqual(some, { available: 1, pending: 0, sold: 2 });
  assert.equal(new Date(asOf).toISOString(), asOf);
  assert.ok((await client.store.inventory()).available > 1);
});

test('an order is placed, read, completed and returned', async () => {
  const petId = await addPet();
  const placed = await client.orders.place({ petId, holdSeconds: 60, reference: 'A-1' });
  assert.deepEqual([placed.petId, placed.status, placed.reference], [petId, 'reserved', 'A-1']);
  assert.equal(placed.response.status, 201);
  assert.deepEqual(await client.orders.get(placed.id), placed);
  await expectFailure(client.orders.place({ petId }), 'pet_unavailable');
  assert.equal((await client.orders.complete(placed.id)).status, 'completed');
  assert.equal((await client.orders.return(Number(placed.id))).status, 'returned');
});

test('orders are listed page by page with filters', async () => {
  const reference = 'walk & co';
  const ids: bigint[] = [];
  for (let n = 0; n < 5; n += 1)
    ids.unshift((await client.orders.place({ petId: await addPet(), reference })).id);
  const listed = await Array.fromAsync(client.orders.listAll({ reference, status: 'reserved', limit: 2 }));
  assert.deepEqual(idsOf(listed), ids);
  const [newest] = listed;
  assert.deepEqual((await client.orders.list({ petId: newest?.petId ?? 0n })).items, [newest]);
});

test('a failed request is found by its request id', async () => {
  const error = await expectFailure(client.pets.delete(int64Max), 'not_found');
  const { requestId, status, code } = error;
  assert.ok(requestId !== null && status !== null);
  const find = () => client.requests.list({ requestId, status, code, since: '2020-01-01T00:00:00+01:00' });
  const { items } = await until(find, (page) => page.items.length > 0, 10_000);
  const [row] = items;
  assert.partialDeepStrictEqual(row, {
    operation: 'DELETE /v1/pets/{petId}',
    message: error.message,
    count: 1,
  });
  assert.deepEqual(await Array.fromAsync(client.requests.listAll({ requestId })), items);
});

test('a key is created, listed, rotated and deleted', async () => {
  const made = await client.keys.create({ name: 'Till', scopes: ['pets:read'], expiresInSeconds: 60 });
  assert.equal(made.response.status, 201);
  const other = connect({ apiKey: made.key });
  assert.equal((await other.account()).key.name, 'Till');
  const successor = await client.keys.rotate(made.id, { overlapSeconds: 0 });
  service.clock.advance(1_000);
  await expectFailure(other.account(), 'api_key_expired', made.key);
  await client.keys.rotate(successor.id);
  await client.keys.delete(successor.id);
  // The service may write the last use of a key between the two reads.
  const namesOf = (keys: readonly { id: string; state: string }[]) =>
    keys.map(({ id, state }) => [id, state]);
  const listed = namesOf(await Array.fromAsync(client.keys.listAll({ limit: 1 })));
  assert.equal(listed.length, 3);
  assert.ok(!listed.flat().includes(successor.id));
  assert.deepEqual(namesOf((await client.keys.list()).items), listed);
});
