import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnimalStore, type AnimalStoreOptions, verifyWebhook } from '../../client/src/index.ts';
import { expectFailure } from './shop.ts';

const apiKey = 'as_dev_0123456789';
const baseUrl = 'http://127.0.0.1/v1';
const options = { apiKey, baseUrl, fetch: () => assert.fail('it was sent') };
const client = new AnimalStore(options);
const { pets, categories, store, orders, keys, webhooks, events } = client;

/** Casts a value so that a test can pass any type, as plain JavaScript can. */
const anything = (value: unknown) => value as never;

const wrongOptions: readonly (readonly [object, RegExp])[] = [
  [{ apiKey: undefined }, /^apiKey is missing: .* ANIMAL_STORE_KEY$/],
  [{ apiKey: `${apiKey}\n` }, /^apiKey must be an API key/],
  [{ baseUrl: undefined }, /^baseUrl is missing: .* ANIMAL_STORE_URL$/],
  ...['http://a/docs', 'ftp://a/v1', 'http://me:as_secret@a/v1', 'http://a/v1?a'].map(
    (wrong) => [{ baseUrl: wrong }, /^baseUrl must be .* that ends in \/v1/] as const,
  ),
  [{ maxRetries: -1 }, /^maxRetries must be a whole number from 0 to 100$/],
  [{ maxWaitMs: Number.POSITIVE_INFINITY }, /^maxWaitMs must/],
  [{ timeoutMs: 0 }, /^timeoutMs must be a whole number from 1 to 2147483647$/],
  [{ userAgent: 'a\nb' }, /^userAgent must/],
  ...['fetch', 'onRetry', 'onDeprecation', 'debug'].map(
    (name) => [{ [name]: 'log' }, new RegExp(`^${name} must be a function$`)] as const,
  ),
];

test('the constructor refuses an invalid option in a message without the key', async () => {
  for (const [wrong, told] of wrongOptions) {
    const all = { ...options, ...wrong } as AnimalStoreOptions;
    const error = await expectFailure(async () => new AnimalStore(all), 'invalid_argument');
    assert.ok(!error.message.includes(apiKey));
    assert.match(error.message, told);
  }
});

const rex = { name: 'Rex', categoryId: 1 };
const endless: Record<string, unknown> = { ...rex };
endless['self'] = endless;
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const signed = { 'webhook-id': 'evt_1', 'webhook-timestamp': '0', 'webhook-signature': 'v1,AAAA' };

/** Calls with an invalid argument, by the start of the message. */
const wrongCalls: Readonly<Record<string, readonly (() => Promise<unknown>)[]>> = {
  'categoryId must be': [2 ** 53, 1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n].flatMap((categoryId) => [
    () => pets.create({ ...rex, categoryId }),
    () => pets.update(1n, { categoryId }),
    () => categories.put(categoryId, { name: 'a' }),
    () => store.inventory({ categoryId }),
  ]),
  'petId must be': [
    () => pets.get(1.5),
    () => pets.update(anything('1'), {}),
    () => orders.place({ petId: 2 ** 60 }),
  ],
  'orderId must be': [() => orders.get(1.5)],
  'id must be': [() => pets.list({ id: anything('1,2') }), () => pets.find([1.5])],
  'petIds must be': [() => pets.find(anything('1'))],
  'keyId must be': [() => keys.delete('a/b')],
  'webhookId must be': [() => webhooks.get('../pets')],
  'idempotencyKey must be': ['', 'a b', 'x'.repeat(256), 1, {}, ['a']].map(
    (idempotencyKey) => () => pets.create(rex, anything({ idempotencyKey })),
  ),
  'newPet must be': [null, 'Rex', endless].map((pet) => () => pets.create(anything(pet))),
  'petPatch must be': [() => pets.update(1n, anything(null))],
  'newCategory must be': [() => categories.put(1, anything('a'))],
  'ifMatch must be': [
    () => pets.update(1n, {}, { ifMatch: 'a\nb' }),
    () => pets.delete(1n, { ifMatch: anything(7) }),
  ],
  'options must be': ['sold', 1, true].map((options) => () => pets.list(anything(options))),
  'signal must be': [{}, 'stop'].map((signal) => () => pets.get(1, anything({ signal }))),
  'timeoutMs must be': [() => pets.list({ timeoutMs: 0 })],
  'maxRetries must be': [() => pets.list({ maxRetries: 1.5 })],
  'onPosition must be': [() => events.follow({ onPosition: anything(1) }).next()],
  'method must be': [() => client.request(anything('FETCH'), '/pets')],
  'path must': ['/pets?limit=1', 'pets', '/../docs', '/pets/%2E%2e', '/pets/.\\7'].map(
    (path) => () => client.request('GET', anything(path)),
  ),
  'headers must': [
    () => client.request('GET', '/pets', { headers: { Authorization: 'Bearer other' } }),
    ...[{ 'x-name': '猫' }, { 'x name': 'Rex' }, null].map(
      (headers) => () => client.request('GET', '/pets', anything({ headers })),
    ),
    ...[undefined, null, 'webhook-id: evt_1'].map(
      (headers) => () => verifyWebhook('{}', anything(headers), secret),
    ),
  ],
  'query must be an object': [null, 'limit=1'].map(
    (query) => () => client.request('GET', '/pets', anything({ query })),
  ),
  'body must be': [
    () => client.request('GET', '/pets', { body: {} }),
    ...[{ a: 1 }, new ArrayBuffer(4), undefined, null].map(
      (body) => () => verifyWebhook(anything(body), signed, secret),
    ),
  ],
  'secret must be': ['', 'whsec_', 'whsec_%'].map((wrong) => () => verifyWebhook('{}', signed, wrong)),
};

for (const [told, calls] of Object.entries(wrongCalls))
  test(`an argument is refused before anything is sent: ${told}`, async () => {
    for (const call of calls) {
      const { message } = await expectFailure(call(), 'invalid_argument', apiKey);
      assert.ok(message.startsWith(told), message);
    }
  });
