import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { after, test } from 'node:test';
import * as sdk from '../../client/src/index.ts';
import { startServer } from '../support/local-server.ts';
import { type Ending, startService } from '../support/service.ts';
import { expectFailure, openShop } from './shop.ts';

const { service, apiKey, baseUrl, connect, client } = await openShop({ after });
const { pets } = client;

/** Starts a server that is not an Animal Store. Returns a client with its address. */
async function pointElsewhere(test: Ending, listener: RequestListener) {
  const elsewhere = `${await startServer(test, listener)}/v1`;
  return { elsewhere, pets: connect({ baseUrl: elsewhere, maxRetries: 0 }).pets };
}

test('an error has the code and the message of the service and the metadata of the request', async () => {
  const error = await expectFailure(pets.list({ limit: 0 }), 'invalid_parameter', apiKey);
  assert.equal(error.message, 'limit must be an integer from 1 to 100');
  assert.deepEqual([error.status, error.attempts, error.retryAfterSeconds], [400, 1, null]);
  assert.match(error.requestId ?? '', /^req_/);
  assert.equal(error.rateLimit?.limit, 1_000_000);
});

test('each kind of failure has its own code and its own class, which extends AnimalStoreError', async () => {
  const rex = { name: 'Rex', categoryId: 1 };
  const reader = await service.createKey('enterprise', undefined, { scopes: ['pets:read'] });
  const limited = await service.createKey('enterprise', { perMinute: 1, perDay: 1 });
  const lost = connect({ baseUrl: 'http://127.0.0.1:9/v1', maxRetries: 0 });
  const spent = connect({ apiKey: limited, maxRetries: 0 });
  await spent.pets.list();
  await pets.create(rex, { idempotencyKey: 'once' });
  const own = { code: 'internal_error', message: 'the service failed; try again', status: 500 };
  const failing = connect({ fetch: async () => Response.json(own, { status: 500 }), maxRetries: 0 });
  const renamed = pets.create({ ...rex, name: 'Bo' }, { idempotencyKey: 'once' });
  const failures = [
    [pets.create({ ...rex, name: '' }), 'invalid_body', sdk.InvalidRequestError],
    [connect({ apiKey: 'as_dev_wrong' }).pets.list(), 'api_key_invalid', sdk.AuthenticationError],
    [connect({ apiKey: reader }).pets.create(rex), 'scope_missing', sdk.PermissionError],
    [pets.get(10n ** 18n), 'not_found', sdk.NotFoundError],
    [renamed, 'idempotency_key_reused', sdk.ConflictError],
    [spent.pets.list(), 'rate_limit_exceeded', sdk.RateLimitError],
    [lost.pets.list(), 'connection_failed', sdk.ConnectionError],
    [pets.get(1.5), 'invalid_argument', sdk.ArgumentError],
    [failing.pets.list(), 'internal_error', sdk.ServiceError],
  ] as const;
  for (const result of await Promise.allSettled(failures.map(([call]) => call)))
    assert.equal(result.status, 'rejected');
  for (const [call, code, Kind] of failures) {
    const error = await expectFailure(call, code, apiKey);
    assert.ok(error instanceof Kind, `${Kind.name}: ${error}`);
    assert.equal(error.name, Kind.name);
  }
});

test('a function returns the key of each request', async () => {
  const keys = ['as_dev_wrong', apiKey];
  const own = connect({ apiKey: async () => keys.shift() ?? '' });
  await expectFailure(own.pets.list(), 'api_key_invalid', 'as_dev_wrong');
  assert.ok(Array.isArray((await own.pets.list()).items));
  await expectFailure(own.pets.list(), 'invalid_argument');
});

test('an address without a path gets /v1', async () => {
  const own = connect({ baseUrl: new URL(baseUrl).origin });
  assert.ok(Array.isArray((await own.pets.list()).items));
});

test('a call may have its own timeout and its own number of retries', async (t) => {
  let sent = 0;
  const { elsewhere } = await pointElsewhere(t, () => {
    sent += 1;
  });
  const { pets: slow } = connect({ baseUrl: elsewhere });
  const error = await expectFailure(slow.list({ timeoutMs: 50, maxRetries: 1 }), 'timed_out');
  assert.deepEqual([error.attempts, sent], [2, 2]);
});

test('a null option counts as absent', async () => {
  assert.equal((await pets.create({ name: 'Rex', categoryId: 1 }, null as never)).name, 'Rex');
  assert.ok((await pets.list(null as never)).items.length > 0);
});

test('an address without a server fails with connection_failed and the reason', async () => {
  const closed = await startService({ after });
  await closed.stop();
  const lost = connect({ baseUrl: closed.baseUrl, maxRetries: 1 });
  const error = await expectFailure(lost.pets.list({ status: 'sold' }), 'connection_failed', apiKey);
  assert.match(error.message, /^no answer from http:\/\/127\.0\.0\.1:\d+\/v1\/pets: connect ECONNREFUSED/);
  assert.deepEqual([error.status, error.requestId, error.rateLimit, error.attempts], [null, null, null, 2]);
});

test('an error names a wrong base address of a service', async () => {
  const beside = connect({ baseUrl: baseUrl.replace('/v1', '/animals/v1') });
  const error = await expectFailure(beside.pets.list(), 'not_found', apiKey);
  assert.match(error.message, /check baseUrl: http:\/\/127\.0\.0\.1:\d+\/animals\/v1\/pets$/);
});

const json = 'application/json';
const redirect = 'https://pets.test/v1';
/** The status, the type and the body of answers that no Animal Store gives, and the message about each. */
const foreign: readonly (readonly [number, type: string, body: string, told: RegExp])[] = [
  [200, 'text/html', '<h1>Hi</h1>', /200 with text\/html: this is not .*; check baseUrl$/],
  [404, '', '', /answered 404 with no content type: this is not a response/],
  [200, json, '{"hello":1}', /answered 200 with unexpected JSON: this is not a response/],
  [200, json, '[{"id":1', /answered 200 with unexpected JSON/],
  [401, json, '{"error":"no"}', /answered 401 with unexpected JSON/],
  [308, '', '', /answered with a redirect to https:\/\/pets\.test\/v1: this/],
  [502, 'text/html', '<h1>Bad</h1>', /502 with text\/html: a proxy in front of .* failed/],
];

for (const [status, type, body, told] of foreign)
  test(`an answer of ${status} with the type "${type}" and ${body} is unexpected`, async (t) => {
    const { pets, elsewhere } = await pointElsewhere(t, (_request, response) => {
      if (type !== '') response.setHeader('content-type', type);
      response.writeHead(status, { location: redirect }).end(body);
    });
    const add = () => pets.create({ name: 'Rex', categoryId: 1 });
    for (const call of [() => pets.list(), add, () => pets.get(1)]) {
      const error = await expectFailure(call, 'unexpected_answer', apiKey);
      assert.match(error.message, told);
      assert.ok(error.message.startsWith(`${elsewhere}/pets`));
    }
  });

test('an error does not contain the key, even if the server sends the key back', async (t) => {
  const { pets } = await pointElsewhere(t, ({ headers }, response) => {
    const message = `who is ${headers.authorization}?`;
    const body = JSON.stringify({ code: 'scope_missing', message, status: 403 });
    response.writeHead(403, { 'content-type': json }).end(body);
  });
  const error = await expectFailure(pets.list(), 'scope_missing', apiKey);
  assert.equal(error.message, 'who is Bearer <apiKey>?');
});

test('a next link to another path is not followed', async (t) => {
  const { pets } = await pointElsewhere(t, (_request, response) => {
    response.writeHead(200, { 'content-type': json, link: '</admin?limit=1>; rel="next"' }).end('[]');
  });
  const error = await expectFailure(pets.list(), 'unexpected_answer', apiKey);
  assert.match(error.message, /does not lead to the list: \/admin$/);
});
