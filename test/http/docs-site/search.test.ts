import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import MiniSearch from 'minisearch';
import { createFinder, cutSnippet, type SearchEntry } from '../../../src/http/docs-site/files/find-places.js';
import { untilRendered } from '../../support/documentation.ts';
import { startService } from '../../support/service.ts';

const { app } = await startService({ after });
await untilRendered(app.url);
const page = await (await fetch(`${app.url}/docs`)).text();
const [, index = ''] = /data-search="\.([^"]*)"/.exec(page) ?? [];
const find = createFinder(MiniSearch, (await (await fetch(app.url + index)).json()) as SearchEntry[]);

/** What a partner types, and the page below `/docs` that must be among the first three. */
const queries = {
  sdk: 'client',
  curl: 'getting-started',
  python: 'python-client',
  typescript: 'client',
  versioning: 'deprecations',
  sandbox: 'environments',
  staging: 'environments',
  tunnel: 'testing',
  signature: 'webhooks',
  'verify signature': 'webhooks',
  pagination: 'pages',
  'next page': 'pages',
  cursor: 'pages',
  'rate limit': 'limits',
  backoff: 'limits',
  quota: 'limits',
  retry: 'idempotency',
  'idempotency-key': 'idempotency',
  'if-match': 'changing-animals',
  etag: 'changing-animals',
  buy: 'orders',
  reserve: 'orders',
  holdSeconds: 'reference/place-order',
  'place order': 'reference/place-order',
  'delete animal': 'reference/delete-pet',
  'POST /orders': 'reference/place-order',
  scopes: 'authentication',
  'rotate key': 'reference/rotate-key',
  webhook: 'webhooks',
  mirror: 'events',
  'release notes': 'changelog',
};

for (const [query, expected] of Object.entries(queries))
  test(`a search for ${query} has ${expected} among its first three pages`, () => {
    const found = find(query).map(({ id }) => id.replace(/#.*/, ''));
    const first = [...new Set(found)].slice(0, 3);
    assert.ok(first.includes(expected), first.join(', '));
  });

test('a search for an error code or a status leads to its explanation first', () => {
  for (const [query, codes] of Object.entries({
    idempotency_key_re: ['idempotency_key_reused'],
    rate_limit_exceeded: ['rate_limit_exceeded'],
    'pet unavailable': ['pet_unavailable'],
    401: ['api_key_missing', 'api_key_invalid', 'api_key_expired', 'api_key_revoked'],
    410: ['gone', 'events_expired'],
    412: ['precondition_failed'],
    422: ['idempotency_key_reused'],
    429: ['rate_limit_exceeded'],
  }))
    assert.ok(codes.map((code) => `errors#${code}`).includes(find(query)[0]?.id ?? ''), query);
});

test('a search for signature has the section that verifies it among its first three places', () => {
  const first = find('signature').slice(0, 3);
  assert.ok(first.some(({ id }) => id === 'webhooks#receive-and-verify'));
});

test('the title of a place has no badge', () => {
  assert.ok(find('create a webhook').some(({ title }) => title === 'Create a webhook'));
  assert.ok(find('beta').every(({ title }) => !title.endsWith(' beta')));
});

test('a snippet begins near the match', () => {
  for (const query of Object.keys(queries))
    for (const found of find(query)) {
      const [before = '', ...rest] = cutSnippet(found);
      assert.ok(rest.length === 0 || before.length <= 26, before);
    }
});

test('a search finds a word that only a sample has', () => {
  assert.ok(find('urlopen').some(({ id }) => id === 'reference/create-pet'));
});

test('a short word with a typing error finds nothing', () => {
  assert.deepEqual(find('pxt'), []);
});

test('every place that a search finds has a snippet', () => {
  for (const query of [...Object.keys(queries), 'idempotency_key_re'])
    for (const found of find(query)) assert.ok(cutSnippet(found).length > 0, query);
});

test('a snippet shows the match', () => {
  const [found = assert.fail()] = find('urlopen');
  assert.ok(cutSnippet(found).some((part, place) => place % 2 === 1 && part === 'urlopen'));
});
