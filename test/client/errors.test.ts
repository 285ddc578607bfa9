import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  AnimalStore,
  AnimalStoreError,
  ArgumentError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServiceError,
} from '../../client/src/index.ts';
import { startService } from '../support/service.ts';

const service = await startService({ after });
const apiKey = await service.createKey();
const { baseUrl } = service;
const rex = { name: 'Rex', categoryId: 1 };

test('each kind of failure has its own class, which extends AnimalStoreError', async () => {
  const client = new AnimalStore({ apiKey, baseUrl, onDeprecation: () => {} });
  const reader = await service.createKey('enterprise', undefined, { scopes: ['pets:read'] });
  const limited = await service.createKey('enterprise', { perMinute: 1, perDay: 1 });
  const lost = new AnimalStore({ apiKey, baseUrl: 'http://127.0.0.1:9/v1', maxRetries: 0 });
  const spent = new AnimalStore({ apiKey: limited, baseUrl, maxRetries: 0 });
  await spent.pets.list();
  await client.pets.create(rex, { idempotencyKey: 'once' });
  const failures: readonly (readonly [() => Promise<unknown>, typeof AnimalStoreError])[] = [
    [() => client.pets.create({ ...rex, name: '' }), InvalidRequestError],
    [() => new AnimalStore({ apiKey: 'as_dev_wrong', baseUrl }).pets.list(), AuthenticationError],
    [() => new AnimalStore({ apiKey: reader, baseUrl }).pets.create(rex), PermissionError],
    [() => client.pets.get(10n ** 18n), NotFoundError],
    [() => client.pets.create({ ...rex, name: 'Bello' }, { idempotencyKey: 'once' }), ConflictError],
    [() => spent.pets.list(), RateLimitError],
    [() => lost.pets.list(), ConnectionError],
    [() => client.pets.get(1.5), ArgumentError],
  ];
  for (const [fail, Kind] of failures)
    await assert.rejects(fail, (error) => {
      assert.ok(error instanceof Kind && error instanceof AnimalStoreError, `${Kind.name}: ${error}`);
      assert.equal(error.name, Kind.name);
      return true;
    });
});

test('a failure of the service itself is a ServiceError', async () => {
  const body = '{"code":"internal_error","message":"the service failed; try again","status":500}';
  const headers = { 'content-type': 'application/json' };
  const fetch = async () => new Response(body, { status: 500, headers });
  const client = new AnimalStore({ apiKey, baseUrl, fetch, maxRetries: 0 });
  await assert.rejects(client.pets.list(), ServiceError);
});
