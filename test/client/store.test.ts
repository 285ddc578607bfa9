import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore } from '../../client/src/index.ts';
import { startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const client = new AnimalStore({ apiKey: await service.createKey(), baseUrl: service.baseUrl });

test('the inventory counts all animals or the animals of a category', async () => {
  for (const status of ['available', 'sold', 'sold'] as const)
    await client.pets.create({ name: 'Rex', categoryId: 3, status });
  await client.pets.create({ name: 'Rex', categoryId: -(2n ** 63n), status: 'pending' });
  const { asOf, ...all } = await client.store.inventory();
  assert.deepEqual(all, { available: 1, pending: 1, sold: 2 });
  assert.equal(new Date(asOf).toISOString(), asOf);
  const { asOf: _, ...some } = await client.store.inventory({ categoryId: -(2n ** 63n) });
  assert.deepEqual(some, { available: 0, pending: 1, sold: 0 });
});

test('a category that is not an int64 is refused before anything is sent', async () => {
  await expectFailure(client.store.inventory({ categoryId: 1.5 }), 'invalid_argument');
});
