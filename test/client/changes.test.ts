import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore } from '../../client/src/index.ts';
import { scopes } from '../../src/accounts/account.ts';
import { startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const apiKey = await service.createKey('enterprise', undefined, { scopes });
const client = new AnimalStore({ apiKey, baseUrl: service.baseUrl, onDeprecation: () => {} });
const int64Max = 2n ** 63n - 1n;

test('an animal is updated only if its ETag still matches', async () => {
  const pet = await client.pets.create({ name: 'Rex', categoryId: 1 });
  const first = await client.pets.update(pet.id, { categoryId: int64Max, status: 'sold' });
  assert.deepEqual(first, { id: pet.id, name: 'Rex', categoryId: int64Max, status: 'sold' });
  const ifMatch = first.response.headers.get('etag');
  const second = await client.pets.update(Number(pet.id), { name: 'Max' }, { ifMatch });
  assert.equal(second.name, 'Max');
  await expectFailure(client.pets.update(pet.id, { name: 'Ben' }, { ifMatch }), 'precondition_failed');
  await expectFailure(client.pets.delete(pet.id, { ifMatch }), 'precondition_failed');
});

test('a deleted animal is not found', async () => {
  const { id } = await client.pets.create({ name: 'Rex', categoryId: 1 });
  assert.equal(await client.pets.delete(id), undefined);
  await expectFailure(client.pets.delete(id), 'not_found');
  await expectFailure(client.pets.update(id, { name: 'a' }), 'not_found');
});

test('animals are found by their ids, more than one request may name, and listed by their category', async () => {
  const ids: bigint[] = [];
  for (let count = 0; count < 3; count += 1)
    ids.unshift((await client.pets.create({ name: 'Rex', categoryId: 77n })).id);
  const idsOf = (pets: readonly { id: bigint }[]) => pets.map(({ id }) => id);
  assert.deepEqual(idsOf(await Array.fromAsync(client.pets.listAll({ categoryId: 77, limit: 2 }))), ids);
  const [first = 0n, , last = 0n] = ids;
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
  await client.categories.put(-(2n ** 63n), { name: 'First' });
  assert.deepEqual(await Array.fromAsync(client.categories.listAll({ limit: 1 })), [
    { id: -(2n ** 63n), name: 'First' },
    { id: 3n, name: 'Cats' },
  ]);
  await client.categories.delete(3);
  await expectFailure(client.categories.delete(3), 'not_found');
  assert.equal((await client.categories.list()).items.length, 1);
});

test('the inventory counts all animals or the animals of a category, in numbers', async () => {
  for (const status of ['available', 'sold', 'sold'] as const)
    await client.pets.create({ name: 'Rex', categoryId: -(2n ** 63n), status });
  const { asOf, ...some } = await client.store.inventory({ categoryId: -(2n ** 63n) });
  assert.deepEqual(some, { available: 1, pending: 0, sold: 2 });
  assert.equal(new Date(asOf).toISOString(), asOf);
  assert.ok((await client.store.inventory()).available > 1);
});

test('invalid arguments are refused before anything is sent', async () => {
  const wrong = <T>(value: unknown) => value as T;
  for (const call of [
    client.pets.update(1n, wrong(null)),
    client.pets.update(wrong('1'), {}),
    client.pets.update(1n, { categoryId: 2 ** 60 }),
    client.pets.update(1n, {}, { ifMatch: 'a\nb' }),
    client.pets.delete(1n, { ifMatch: wrong(7) }),
    client.pets.list({ id: wrong('1,2') }),
    client.categories.put(1.5, { name: 'a' }),
    client.store.inventory({ categoryId: 1.5 }),
    client.pets.find(wrong('1')),
    client.pets.find([1.5]),
    client.categories.put(1, wrong('a')),
  ])
    await expectFailure(call, 'invalid_argument');
});
