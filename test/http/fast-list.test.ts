import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createFastRead, type FastReadOptions } from '../../src/http/fast-read.ts';
import { findPostgres, sqliteEngine } from '../support/engines.ts';
import { expectError } from '../support/expect-error.ts';
import { createWarmKey, listSteadyHeaders, longWay } from '../support/lane.ts';
import { countLongWays } from '../support/long-ways.ts';
import type { TestService } from '../support/service.ts';
import { startWith } from './unread-animals.ts';

const postgres = await findPostgres();

/** The way to the next page. */
function readNext({ headers }: Response): string {
  return /<\/v1(.*)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
}

/** Asks for a page that is not ready, and whether it came to the framework. */
async function askUnread(service: TestService, key: string, path: string) {
  let response = new Response();
  const longWays = await countLongWays(async () => {
    response = await service.request(key, path);
  });
  return { response, longWays };
}

for (const engine of [sqliteEngine, postgres]) {
  const { name, skip } = engine;

  test(`${name}: a page that is not ready has the same answer on either way`, { skip }, async (t) => {
    const { service, key } = await startWith(t, engine);
    const paths = [
      '/pets',
      '/pets?limit=2',
      '/pets?status=pending',
      '/pets?limit=100&status=sold',
      '/pets?status=sold&limit=9',
    ];
    const second = readNext(await service.request(key, '/pets?limit=1'));
    const secondOfStatus = readNext(await service.request(key, '/pets?limit=1&status=pending'));
    const ofDefaultLimit = second.replace('limit=1&', '');
    for (const path of [...paths, second, secondOfStatus, ofDefaultLimit]) {
      const { response, longWays } = await askUnread(service, key, path);
      assert.deepEqual([response.status, longWays], [200, 0], path);
      const long = await service.request(key, path, { headers: longWay });
      assert.equal(await response.text(), await long.text(), path);
      assert.deepEqual(listSteadyHeaders(response), listSteadyHeaders(long), path);
      assert.match(response.headers.get('x-request-id') ?? '', /^req_/);
    }
  });

  test(`${name}: the pages of a walk hold each animal once, its int64 exact`, { skip }, async (t) => {
    const { service, key } = await startWith(t, engine);
    const categoryId = '9007199254740993';
    await service.request(key, '/pets', {
      method: 'POST',
      body: `{"name":"Zoë","categoryId":${categoryId}}`,
      headers: { 'content-type': 'application/json' },
    });
    const bodies: string[] = [];
    for (let path = '/pets?limit=2'; path !== ''; ) {
      const { response, longWays } = await askUnread(service, key, path);
      assert.equal(longWays, 0, path);
      bodies.push(await response.text());
      path = readNext(response);
    }
    assert.match(bodies[0] ?? '', new RegExp(`^\\[{"id":6,"name":"Zoë","categoryId":${categoryId},`));
    const ids = bodies.flatMap((body) => (JSON.parse(body) as { id: number }[]).map(({ id }) => id));
    assert.deepEqual(ids, [6, 5, 4, 3, 2, 1]);
  });
}

for (const query of [
  'limit=0',
  'limit=101',
  'limit=05',
  'limit=1e1',
  'limit=-1',
  'limit=2&limit=3',
  'limit=5status=available',
  'limit=',
  'limit',
  'limit=2=2',
  'status=gone',
  'status=pending&status=sold',
  'cursor=',
  'cursor=AAAA',
  'limit=2&cursor=AAAA',
  'cursor=%00',
])
  test(`?${query} is refused alike on either way, and counted once`, async (t) => {
    const { service, key } = await startWith(t);
    const short = await service.request(key, `/pets?${query}`);
    const long = await service.request(key, `/pets?${query}`, { headers: longWay });
    assert.deepEqual(listSteadyHeaders(short), listSteadyHeaders(long));
    const remaining = [short, long].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    assert.deepEqual(remaining, [999_998, 999_997]);
    const bodies = [await short.clone().text(), await long.clone().text()];
    assert.equal(bodies[0], bodies[1]);
    await expectError(short, 400, 'invalid_parameter');
  });

for (const [query, same] of [
  ['limit=2&', 'limit=2'],
  ['status=sol%64', 'status=sold'],
  ['limit=%32', 'limit=2'],
  ['limit=2&unknown=1', 'limit=2'],
] as const)
  test(`?${query} is not plain, and has the animals of ?${same}`, async (t) => {
    const { service, key } = await startWith(t);
    const { response, longWays } = await askUnread(service, key, `/pets?${query}`);
    assert.equal(longWays, 1);
    const plain = await service.request(key, `/pets?${same}`);
    assert.equal(await response.text(), await plain.text());
  });

test('a cursor of one status is refused for another on the lane, too', async (t) => {
  const { service, key } = await startWith(t);
  const next = readNext(await service.request(key, '/pets?limit=1&status=pending'));
  assert.match(next, /status=pending/);
  const { response } = await askUnread(service, key, next.replace('pending', 'sold'));
  await expectError(response, 400, 'invalid_parameter');
});

test('exactly as many pages that are not ready pass as the plan says, each other one a strike', async (t) => {
  const { service, key } = await startWith(t, sqliteEngine, 'free');
  const ask = async (_: unknown, index: number) => {
    const response = await service.request(key, `/pets?limit=${index + 1}`);
    return ((await response.json()) as { code?: string }).code ?? response.status;
  };
  const outcomes = await Promise.all(Array.from({ length: 100 }, ask));
  assert.equal(outcomes.filter((outcome) => outcome === 200).length, 59);
  assert.equal(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded').length, 41);
});

test('a key that may only write gets no page', async (t) => {
  const { service } = await startWith(t);
  const writer = await createWarmKey(service, 'enterprise', undefined, { scopes: ['pets:write'] });
  await expectError(await service.request(writer, '/pets?limit=3'), 403, 'scope_missing');
});

test('pages that are not ready are counted and timed as what they are', async (t) => {
  const { service, key } = await startWith(t);
  for (const limit of [1, 2, 3]) await service.request(key, `/pets?limit=${limit}`);
  const metrics = await (await fetch(`${service.app.opsUrl}/metrics`)).text();
  assert.match(metrics, /_requests_total\{route="GET \/v1\/pets",status="200"\} 3\n/);
  assert.match(metrics, /_ready_answers_total\{source="store"\} 3\n/);
  assert.doesNotMatch(metrics, /route="GET \/v1\/pets\/:petId"/);
});

test('what is held is sent before a page is made, and not before an animal is read', () => {
  const done: string[] = [];
  const options = {
    admission: { admit: () => ({}) },
    ready: { find: () => null },
    petAnswers: { readId: (url: string) => (url === '/v1/pets/1' ? 1n : null), make: () => done.push('get') },
    pageAnswers: { readQuery: () => ({}), make: () => done.push('list') },
    outbox: { flush: () => done.push('flush') },
    askStore: (_: unknown, ask: () => unknown) => void ask(),
  } as unknown as FastReadOptions;
  const read = createFastRead(options);
  for (const url of ['/v1/pets/1', '/v1/pets'])
    read({ url } as IncomingMessage, {} as ServerResponse, () => assert.fail('it goes the long way'));
  assert.deepEqual(done, ['get', 'flush', 'list']);
});
