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

test('each client reports a deprecated operation once, even if its request fails, with its dates and its replacement, and no other operation', async () => {
  for (const { client, told } of [createClient(), createClient()]) {
    await client.pets.list();
    await assert.rejects(client.pets.get(3));
    await client.pets.get(1);
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
