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

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

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

test('animals are listed by their ids and by their category', async () => {
  const ids: bigint[] = [];
  for (let count = 0; count < 3; count += 1)
    ids.unshift((await client.pets.create({ name: 'Rex', categoryId: 77n })).id);
  const listed = await collect(client.pets.listAll({ categoryId: 77, limit: 2 }));
  assert.deepEqual(
    listed.map(({ id }) => id),
    ids,
  );
  const { items } = await client.pets.list({ id: [ids[0] ?? 0n, Number(ids[2])], status: 'available' });
  assert.deepEqual(
    items.map(({ id }) => id),
    [ids[0], ids[2]],
  );
});

test('categories are created, listed and deleted', async () => {
  assert.equal((await client.categories.put(3, { name: 'Dogs' })).response.status, 201);
  const renamed = await client.categories.put(3n, { name: 'Cats' });
  assert.deepEqual([renamed, renamed.response.status], [{ id: 3n, name: 'Cats' }, 200]);
  await client.categories.put(-(2n ** 63n), { name: 'First' });
  assert.deepEqual(await collect(client.categories.listAll({ limit: 1 })), [
    { id: -(2n ** 63n), name: 'First' },
    { id: 3n, name: 'Cats' },
  ]);
  await client.categories.delete(3);
  await expectFailure(client.categories.delete(3), 'not_found');
  assert.equal((await client.categories.list()).items.length, 1);
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
    client.categories.put(1, wrong('a')),
  ])
    await expectFailure(call, 'invalid_argument');
});
