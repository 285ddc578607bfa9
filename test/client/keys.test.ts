import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore, type ApiKey } from '../../client/src/index.ts';
import { scopes } from '../../src/accounts/account.ts';
import { startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const { baseUrl } = service;
const order = { account: 'Acme Zoo', scopes };
const client = new AnimalStore({ apiKey: await service.createKey('pro', undefined, order), baseUrl });

test('the account shows plan, key, windows and open holds', async () => {
  const shown = await client.account();
  const { account, plan, key, minute, day, openHolds, response } = shown;
  assert.equal(JSON.parse(JSON.stringify(shown)).minute.limit, 300);
  assert.deepEqual([account, plan, openHolds, response.status], ['Acme Zoo', 'pro', 0, 200]);
  assert.deepEqual(key.scopes, scopes);
  assert.deepEqual([minute.limit, day.limit, day.remaining], [300, 10_000, 9_999]);
});

test('a key is created, listed, rotated and deleted', async () => {
  const made = await client.keys.create({ name: 'Till', scopes: ['pets:read'], expiresInSeconds: 60 });
  assert.equal(made.response.status, 201);
  const other = new AnimalStore({ apiKey: made.key, baseUrl });
  assert.equal((await other.account()).key.name, 'Till');
  const successor = await client.keys.rotate(made.id, { overlapSeconds: 0 });
  service.clock.advance(1_000);
  await expectFailure(other.account(), 'api_key_expired', made.key);
  await client.keys.rotate(successor.id);
  await client.keys.delete(successor.id);
  const listed: ApiKey[] = [];
  for await (const key of client.keys.listAll({ limit: 1 })) listed.push(key);
  assert.equal(listed.length, 3);
  assert.ok(!listed.some(({ id }) => id === successor.id));
  // The service may write the last use of a key between the two reads.
  const withoutUse = (keys: readonly ApiKey[]) => keys.map((key) => ({ ...key, lastUsedAt: null }));
  assert.deepEqual(withoutUse((await client.keys.list()).items), withoutUse(listed));
});

test('refused calls throw errors with the documented codes, and nothing is sent for an invalid id', async () => {
  await expectFailure(client.keys.delete('key_3kTMd8fZq1LxW0aB'), 'not_found');
  await expectFailure(client.keys.create({ scopes: [] }), 'invalid_body');
  await expectFailure(client.keys.delete('a/b'), 'invalid_argument');
});
