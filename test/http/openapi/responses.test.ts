import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exchangeRaw, formatRequest, type RawResponse } from '../../support/raw-http.ts';
import { createMovableClock, startService } from '../../support/service.ts';
import { startFaultyService } from '../faulty-service.ts';
import { type Description, expectDescribed, listOperations } from './description.ts';

const service = await startService({ after });
const key = await service.createKey();
const response = await fetch(`${new URL(service.baseUrl).origin}/openapi.json`);
const description = (await response.json()) as Description;

/** How each operation is called as it should be. */
const calls = {
  listPets: { method: 'GET', path: '/pets', lacking: 'pets:write', body: null },
  createPet: { method: 'POST', path: '/pets', lacking: 'pets:read', body: '{"name":"Rex","categoryId":1}' },
  getPet: { method: 'GET', path: '/pets/1', lacking: 'pets:write', body: null },
  headPets: { method: 'HEAD', path: '/pets', lacking: 'pets:write', body: null },
  headPet: { method: 'HEAD', path: '/pets/1', lacking: 'pets:write', body: null },
} as const;

type CallName = keyof typeof calls;
type OperationId = Exclude<CallName, keyof typeof heads>;

/** HEAD is described with the GET whose headers it answers. */
const heads = { headPets: 'listPets', headPet: 'getPet' } as const;

/** What a call has that is not as it should be. */
interface Change {
  readonly baseUrl?: string;
  readonly key?: string | null;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function call(operationId: CallName, change: Change = {}): Promise<RawResponse> {
  const usual = { baseUrl: service.baseUrl, key, headers: {}, ...calls[operationId] };
  const { baseUrl, path, method, key: sent, body, headers } = { ...usual, ...change };
  const answer = await fetch(baseUrl + path, {
    method,
    body,
    headers: {
      ...(sent !== null && { authorization: `Bearer ${sent}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

/** The head of a call as it goes over the wire. */
function formatHead(operationId: CallName, sent: string, headers: Readonly<Record<string, string>> = {}) {
  const { method, path } = calls[operationId];
  return formatRequest(`${method} /v1${path}`, { authorization: `Bearer ${sent}`, ...headers });
}

async function callRaw(baseUrl: string, ...parts: string[]): Promise<RawResponse> {
  const [answer] = await exchangeRaw({ after }, baseUrl, ...parts);
  assert.ok(answer);
  return answer;
}

type Drives = Readonly<Record<number, () => Promise<RawResponse>>>;

/** What every operation answers alike. */
function commonDrives(operationId: CallName): Drives {
  const { lacking } = calls[operationId];
  return {
    401: () => call(operationId, { key: null }),
    403: async () => {
      const limited = await service.createKey('pro', undefined, { scopes: [lacking] });
      return call(operationId, { key: limited });
    },
    405: () => call(operationId, { method: 'DELETE' }),
    408: async () => {
      const { baseUrl, key: valid } = await startFaultyService({ after });
      return callRaw(baseUrl, formatHead(operationId, valid).slice(0, -2));
    },
    413: async () => {
      // A key that has to be read keeps the answer back until the body has proved unreadable.
      const head = formatHead(operationId, await service.createKey(), chunked);
      return callRaw(service.baseUrl, head, `1;${'a'.repeat(20_000)}`);
    },
    429: async () => {
      const exhausted = await service.createKey('enterprise', { perMinute: 1, perDay: 1 });
      await call(operationId, { key: exhausted });
      return call(operationId, { key: exhausted });
    },
    431: () => call(operationId, { headers: { 'x-filler': 'a'.repeat(20_000) } }),
    500: async () => {
      const broken = await startService({ after });
      const valid = await broken.createKey();
      broken.openFile().exec('alter table pets rename to hidden');
      return call(operationId, { baseUrl: broken.baseUrl, key: valid });
    },
    503: async () => call(operationId, await startFaultyService({ after })),
  };
}

const chunked = { 'transfer-encoding': 'chunked', 'content-type': 'application/json' };

async function callAgain(operationId: CallName): Promise<RawResponse> {
  const { headers } = await call(operationId);
  return call(operationId, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
}

/** Of two calls under one Idempotency-Key, one is refused while the other waits for the store. */
async function callTwice(): Promise<RawResponse> {
  const file = service.openFile();
  file.exec('begin immediate');
  const both = [1, 2].map(() => call('createPet', { headers: { 'idempotency-key': 'twice' } }));
  const refused = await Promise.race(both);
  file.exec('rollback');
  await Promise.all(both);
  return refused;
}

const inWhole: Readonly<Record<OperationId, Drives>> = {
  listPets: {
    ...commonDrives('listPets'),
    200: () => call('listPets', { path: '/pets?limit=1' }),
    304: () => callAgain('listPets'),
    400: () => call('listPets', { path: '/pets?limit=0' }),
  },
  createPet: {
    ...commonDrives('createPet'),
    201: () => call('createPet'),
    400: () => call('createPet', { body: '{}' }),
    409: callTwice,
    415: () => call('createPet', { headers: { 'content-type': 'text/plain' } }),
    422: async () => {
      const headers = { 'idempotency-key': 'once' };
      await call('createPet', { headers });
      return call('createPet', { headers, body: '{"name":"Max","categoryId":1}' });
    },
  },
  getPet: {
    ...commonDrives('getPet'),
    200: () => call('getPet'),
    304: () => callAgain('getPet'),
    400: () => call('getPet', { path: '/pets/1?a=1', headers: { prefer: 'handling=strict' } }),
    404: () => call('getPet', { path: '/pets/0' }),
    410: () => callRemoved('getPet'),
  },
};

/** A request that is cut off or cannot be read has no method yet, and an unknown one is no HEAD. */
function headDrives(name: keyof typeof heads, own: Drives): Drives {
  const { 405: _unknown, 408: _late, 413: _large, 431: _long, ...common } = commonDrives(name);
  return { ...common, 200: () => call(name), 304: () => callAgain(name), ...own };
}

const inHead: Readonly<Record<keyof typeof heads, Drives>> = {
  headPets: headDrives('headPets', { 400: () => call('headPets', { path: '/pets?limit=0' }) }),
  headPet: headDrives('headPet', {
    400: () => call('headPet', { path: '/pets/1?a=1', headers: { prefer: 'handling=strict' } }),
    404: () => call('headPet', { path: '/pets/0' }),
    410: () => callRemoved('headPet'),
  }),
};

async function callRemoved(operationId: CallName): Promise<RawResponse> {
  const late = await startService({ after }, {}, createMovableClock(Date.UTC(2030, 11, 5)));
  return call(operationId, { baseUrl: late.baseUrl, key: await late.createKey() });
}

await call('createPet');
await call('createPet');

test('every status that is described is driven out of the service here', () => {
  const described = [...listOperations(description)].map(([name, { responses }]) => [
    name,
    Object.keys(responses),
  ]);
  const driven = Object.entries(inWhole).map(([name, all]) => [name, Object.keys(all)]);
  assert.deepEqual(described, driven);
});

for (const operationId of Object.keys(inWhole) as OperationId[])
  for (const [status, drive] of Object.entries(inWhole[operationId]))
    test(`${operationId} answers ${status} as it is described`, async () => {
      const answer = await drive();
      assert.equal(answer.status, Number(status), answer.body);
      expectDescribed(description, operationId, answer);
    });

for (const name of ['headPets', 'headPet'] as const)
  for (const [status, drive] of Object.entries(inHead[name]))
    test(`HEAD answers ${status} as ${heads[name]} is described, without its body`, async () => {
      const answer = await drive();
      assert.equal(answer.status, Number(status));
      expectDescribed(description, heads[name], answer, 'bodiless');
    });

const origin = 'https://app.test';
const forPages = await startService({ after }, { CORS_ORIGINS: origin });
const keyForPages = await forPages.createKey();

for (const operationId of Object.keys(inWhole) as OperationId[])
  for (const sent of [origin, 'https://other.test', null])
    test(`with CORS_ORIGINS ${operationId} answers as it is described, called from ${sent ?? 'no page'}`, async () => {
      const { baseUrl } = forPages;
      const headers = sent === null ? {} : { origin: sent };
      const changes = [{ key: keyForPages }, { key: null }, { key: keyForPages, method: 'DELETE' }];
      for (const change of changes) {
        const answer = await call(operationId, { baseUrl, headers, ...change });
        assert.equal(answer.headers.get('vary'), 'Origin');
        assert.equal(answer.headers.get('access-control-allow-origin'), sent === origin ? origin : null);
        expectDescribed(description, operationId, answer);
      }
    });

test('a retry under an Idempotency-Key is answered as it is described', async () => {
  const headers = { 'idempotency-key': 'retried' };
  await call('createPet', { headers });
  const answer = await call('createPet', { headers });
  assert.equal(answer.headers.get('idempotent-replayed'), 'true');
  expectDescribed(description, 'createPet', answer);
});

for (const operationId of ['listPets', 'getPet'] as const)
  test(`${operationId} answers the same request again as it is described`, async () => {
    await call(operationId);
    expectDescribed(description, operationId, await call(operationId));
  });

const oddHeaders: readonly Readonly<Record<string, string>>[] = [
  {},
  { prefer: 'handling=strict' },
  { 'idempotency-key': ' ' },
  { 'idempotency-key': 'é' },
  { 'if-none-match': '*' },
  { 'content-type': 'application/xml' },
  { 'content-encoding': 'gzip' },
  { authorization: 'Basic YTpi' },
  { accept: 'text/html' },
  { range: 'bytes=0-1' },
];
const oddQueries = ['', '?', '?limit=101', '?limit=1&limit=1', '?status=Sold', '?cursor=x', '?a=%', '?a=1'];
const oddBodies = [
  '',
  '{',
  '[]',
  '{"name":"","categoryId":1}',
  '{"name":"a","categoryId":1e400}',
  ' '.repeat(70_000),
];

for (const operationId of ['listPets', 'createPet', 'getPet'] as const)
  test(`${operationId} answers nothing that is not described, however odd the request`, async () => {
    const { method, path } = calls[operationId];
    const bodies = method === 'POST' ? oddBodies : [''];
    let count = 0;
    for (const headers of oddHeaders)
      for (const query of oddQueries)
        for (const body of bodies) {
          const head = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
          const length = method === 'POST' ? { 'content-length': String(body.length) } : {};
          const request = formatRequest(`${method} /v1${path}${query}`, { ...head, ...length }, body);
          expectDescribed(description, operationId, await callRaw(service.baseUrl, request));
          count += 1;
        }
    assert.ok(count >= 80);
  });
