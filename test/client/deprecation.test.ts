import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore, type Deprecation } from '../../client/src/index.ts';
import { startService } from '../support/service.ts';

const service = await startService({ after });
const apiKey = await service.createKey();
await service.importPets(2);

function createClient(): { client: AnimalStore; told: Deprecation[] } {
  const told: Deprecation[] = [];
  const onDeprecation = (deprecation: Deprecation) => told.push(deprecation);
  return { client: new AnimalStore({ apiKey, baseUrl: service.baseUrl, onDeprecation }), told };
}

test('each client reports a deprecated operation once, with its dates and its replacement', async () => {
  for (const { client, told } of [createClient(), createClient()]) {
    await client.pets.get(1);
    await client.pets.get(2);
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

test('a deprecated operation is reported even if the request fails', async () => {
  const { client, told } = createClient();
  await assert.rejects(client.pets.get(3));
  assert.equal(told.length, 1);
});

test('an operation that is not deprecated is not reported', async () => {
  const { client, told } = createClient();
  await client.pets.list();
  await client.pets.create({ name: 'Rex', categoryId: 1 });
  assert.deepEqual(told, []);
});
