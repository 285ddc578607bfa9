import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  AnimalStore,
  type AnimalStoreError,
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
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const apiKey = await service.createKey();
const { baseUrl } = service;
const rex = { name: 'Rex', categoryId: 1 };

test('each kind of failure has its own code and its own class, which extends AnimalStoreError', async () => {
  const client = new AnimalStore({ apiKey, baseUrl, onDeprecation: () => {} });
  const reader = await service.createKey('enterprise', undefined, { scopes: ['pets:read'] });
  const limited = await service.createKey('enterprise', { perMinute: 1, perDay: 1 });
  const lost = new AnimalStore({ apiKey, baseUrl: 'http://127.0.0.1:9/v1', maxRetries: 0 });
  const spent = new AnimalStore({ apiKey: limited, baseUrl, maxRetries: 0 });
  await spent.pets.list();
  await client.pets.create(rex, { idempotencyKey: 'once' });
  const wrong = new AnimalStore({ apiKey: 'as_dev_wrong', baseUrl });
  const failures: readonly (readonly [
    Promise<unknown>,
    AnimalStoreError['code'],
    typeof AnimalStoreError,
  ])[] = [
    [client.pets.create({ ...rex, name: '' }), 'invalid_body', InvalidRequestError],
    [wrong.pets.list(), 'api_key_invalid', AuthenticationError],
    [new AnimalStore({ apiKey: reader, baseUrl }).pets.create(rex), 'scope_missing', PermissionError],
    [client.pets.get(10n ** 18n), 'not_found', NotFoundError],
    [
      client.pets.create({ ...rex, name: 'Bo' }, { idempotencyKey: 'once' }),
      'idempotency_key_reused',
      ConflictError,
    ],
    [spent.pets.list(), 'rate_limit_exceeded', RateLimitError],
    [lost.pets.list(), 'connection_failed', ConnectionError],
    [client.pets.get(1.5), 'invalid_argument', ArgumentError],
  ];
  for (const result of await Promise.allSettled(failures.map(([call]) => call)))
    assert.equal(result.status, 'rejected');
  for (const [call, code, Kind] of failures) {
    const error = await expectFailure(call, code, apiKey);
    assert.ok(error instanceof Kind, `${Kind.name}: ${error}`);
    assert.equal(error.name, Kind.name);
  }
});

test('a failure of the service itself is a ServiceError', async () => {
  const body = '{"code":"internal_error","message":"the service failed; try again","status":500}';
  const headers = { 'content-type': 'application/json' };
  const fetch = async () => new Response(body, { status: 500, headers });
  const client = new AnimalStore({ apiKey, baseUrl, fetch, maxRetries: 0 });
  await assert.rejects(client.pets.list(), ServiceError);
});
