import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { AnimalStore, type AnimalStoreOptions } from '../../client/src/index.ts';
import { type Ending, startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const apiKey = await service.createKey();
const { baseUrl } = service;
const { pets } = new AnimalStore({ apiKey, baseUrl, onDeprecation: () => {} });

/** Starts a server that is not an Animal Store. Returns a client with its address. */
async function pointElsewhere(test: Ending, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const elsewhere = `http://127.0.0.1:${port}/v1`;
  return { elsewhere, pets: new AnimalStore({ apiKey, baseUrl: elsewhere, maxRetries: 0 }).pets };
}

test('an error has the code and the message of the service and the metadata of the request', async () => {
  const error = await expectFailure(pets.list({ limit: 0 }), 'invalid_parameter', apiKey);
  assert.equal(error.message, 'limit must be an integer from 1 to 100');
  assert.deepEqual([error.status, error.attempts, error.retryAfterSeconds], [400, 1, null]);
  assert.match(error.requestId ?? '', /^req_/);
  assert.equal(error.rateLimit?.limit, 1_000_000);
});

const wrongOptions: readonly (readonly [object, RegExp])[] = [
  [{ apiKey: undefined }, /^apiKey is missing: .* ANIMAL_STORE_KEY$/],
  [{ apiKey: `${apiKey}\n` }, /^apiKey must be an API key/],
  [{ baseUrl: undefined }, /^baseUrl is missing: .* ANIMAL_STORE_URL$/],
  ...[
    'http://127.0.0.1/docs',
    'ftp://127.0.0.1/v1',
    'http://me:as_secret@127.0.0.1/v1',
    'http://127.0.0.1/v1?a',
  ].map((wrong) => [{ baseUrl: wrong }, /^baseUrl must be .* that ends in \/v1/] as const),
  [{ maxRetries: -1 }, /^maxRetries must be a whole number from 0 to 100$/],
  [{ maxWaitMs: Number.POSITIVE_INFINITY }, /^maxWaitMs must/],
  [{ timeoutMs: 0 }, /^timeoutMs must be a whole number from 1 to 2147483647$/],
  [{ userAgent: 'a\nb' }, /^userAgent must/],
  ...['fetch', 'onRetry', 'onDeprecation', 'debug'].map(
    (name) => [{ [name]: 'log' }, new RegExp(`^${name} must be a function$`)] as const,
  ),
];

test('the constructor refuses an invalid option, and the message does not contain the key', async () => {
  for (const [wrong, told] of wrongOptions) {
    const options = { apiKey, baseUrl, ...wrong } as AnimalStoreOptions;
    const error = await expectFailure(async () => new AnimalStore(options), 'invalid_argument');
    assert.ok(!error.message.includes(apiKey));
    assert.match(error.message, told);
  }
});

test('an address of a service without a path gets /v1', async () => {
  const short = new AnimalStore({ apiKey, baseUrl: new URL(baseUrl).origin });
  assert.ok(Array.isArray((await short.pets.list()).items));
});

test('a function returns the key of each request, so a rotated key needs no new client', async () => {
  const keys = ['as_dev_wrong', apiKey];
  const client = new AnimalStore({ apiKey: async () => keys.shift() ?? '', baseUrl });
  await expectFailure(client.pets.list(), 'api_key_invalid', 'as_dev_wrong');
  assert.ok(Array.isArray((await client.pets.list()).items));
  await expectFailure(client.pets.list(), 'invalid_argument');
});

test('a call may have its own timeout and its own number of retries', async (t) => {
  let sent = 0;
  const { elsewhere } = await pointElsewhere(t, () => {
    sent += 1;
  });
  const { pets: slow } = new AnimalStore({ apiKey, baseUrl: elsewhere });
  const error = await expectFailure(slow.list({ timeoutMs: 50, maxRetries: 1 }), 'timed_out');
  assert.deepEqual([error.attempts, sent], [2, 2]);
  for (const wrong of [{ timeoutMs: 0 }, { maxRetries: 1.5 }])
    await expectFailure(slow.list(wrong), 'invalid_argument');
});

test('an unsafe number or a number that is not an int64 is refused before anything is sent', async () => {
  const silent = new AnimalStore({ apiKey, baseUrl, fetch: () => assert.fail('it was sent') });
  for (const categoryId of [2 ** 53, 1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n]) {
    const error = await expectFailure(silent.pets.create({ name: 'Rex', categoryId }), 'invalid_argument');
    assert.match(error.message, /^categoryId must be a bigint/);
    assert.match(
      (await expectFailure(silent.pets.get(categoryId), 'invalid_argument')).message,
      /^petId must/,
    );
  }
  const rex = { name: 'Rex', categoryId: 1 };
  for (const idempotencyKey of ['', 'a b', 'x'.repeat(256)])
    await expectFailure(silent.pets.create(rex, { idempotencyKey }), 'invalid_argument');
});

/** Casts a value so that a test can pass any type, as plain JavaScript can. */
const anything = (value: unknown) => value as never;

test('arguments of a wrong type throw an ArgumentError before anything is sent', async () => {
  const silent = new AnimalStore({ apiKey, baseUrl, fetch: () => assert.fail('it was sent') });
  const rex = { name: 'Rex', categoryId: 1 };
  const endless: Record<string, unknown> = { ...rex };
  endless['self'] = endless;
  const calls = {
    idempotencyKey: [1, {}, ['a']].map((idempotencyKey) =>
      silent.pets.create(rex, anything({ idempotencyKey })),
    ),
    newPet: [null, 'Rex', endless].map((pet) => silent.pets.create(anything(pet))),
    options: [
      silent.pets.list(anything('sold')),
      silent.pets.listAll(anything(1)).next(),
      silent.pets.get(1, anything(true)),
      silent.pets.create(rex, anything('once')),
    ],
    signal: [silent.pets.list(anything({ signal: {} })), silent.pets.get(1, anything({ signal: 'stop' }))],
  };
  for (const [field, all] of Object.entries(calls))
    for (const call of all)
      assert.ok((await expectFailure(call, 'invalid_argument')).message.startsWith(`${field} must be`));
});

test('a null option counts as absent', async () => {
  assert.equal((await pets.create({ name: 'Rex', categoryId: 1 }, anything(null))).name, 'Rex');
  assert.ok((await pets.list(anything(null))).items.length > 0);
});

test('an address without a server fails with connection_failed and a message that has the address and the reason', async () => {
  const closed = await startService({ after });
  await closed.stop();
  const lost = new AnimalStore({ apiKey, baseUrl: closed.baseUrl, maxRetries: 1 });
  const error = await expectFailure(lost.pets.list({ status: 'sold' }), 'connection_failed', apiKey);
  assert.match(error.message, /^no answer from http:\/\/127\.0\.0\.1:\d+\/v1\/pets: connect ECONNREFUSED/);
  assert.deepEqual([error.status, error.requestId, error.rateLimit, error.attempts], [null, null, null, 2]);
});

test('an error names a wrong base address of a service', async () => {
  const beside = new AnimalStore({ apiKey, baseUrl: baseUrl.replace('/v1', '/animals/v1') });
  const error = await expectFailure(beside.pets.list(), 'not_found', apiKey);
  assert.match(error.message, /check baseUrl: http:\/\/127\.0\.0\.1:\d+\/animals\/v1\/pets$/);
});

const json = { 'content-type': 'application/json' };
/** The status, the headers and the body of answers that no Animal Store gives, and the message about each. */
const foreign: readonly (readonly [
  status: number,
  headers: Record<string, string>,
  body: string,
  told: RegExp,
])[] = [
  [
    200,
    { 'content-type': 'text/html' },
    '<h1>Hi</h1>',
    /200 with text\/html: this is not .*; check baseUrl$/,
  ],
  [404, {}, '', /answered 404 with no content type: this is not a response/],
  [200, json, '{"hello":1}', /answered 200 with unexpected JSON: this is not a response/],
  [200, json, '[{"id":1', /answered 200 with unexpected JSON/],
  [401, json, '{"error":"no"}', /answered 401 with unexpected JSON/],
  [
    308,
    { location: 'https://pets.test/v1' },
    '',
    /answered with a redirect to https:\/\/pets\.test\/v1: this/,
  ],
  [
    502,
    { 'content-type': 'text/html' },
    '<h1>Bad</h1>',
    /502 with text\/html: a proxy in front of .* failed/,
  ],
];

for (const [status, headers, body, told] of foreign)
  test(`an answer of ${status} with ${JSON.stringify(headers)} and ${body} is unexpected`, async (t) => {
    const { pets, elsewhere } = await pointElsewhere(t, (_request, response) =>
      response.writeHead(status, headers).end(body),
    );
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
    response.writeHead(403, json).end(JSON.stringify({ code: 'scope_missing', message, status: 403 }));
  });
  const error = await expectFailure(pets.list(), 'scope_missing', apiKey);
  assert.equal(error.message, 'who is Bearer <apiKey>?');
});

test('a next link to another path is not followed', async (t) => {
  const { pets } = await pointElsewhere(t, (_request, response) => {
    response.writeHead(200, { ...json, link: '</admin?limit=1>; rel="next"' }).end('[]');
  });
  const error = await expectFailure(pets.list(), 'unexpected_answer', apiKey);
  assert.match(error.message, /does not lead to the list: \/admin$/);
});
