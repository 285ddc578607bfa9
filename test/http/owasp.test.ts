import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { bodyBytesMax } from '../../src/http/request/body.ts';
import { expectError } from '../support/expect-error.ts';
import { exchangeRaw, formatRequest } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

/** Tests of the OWASP API Security Top 10 of 2023. docs/decisions/security.md explains which items apply. */

const service = await startService({ after });
const key = await service.createKey();
const rex = { name: 'Rex', categoryId: 1 };
const origin = new URL(service.baseUrl).origin;

async function readJson(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

describe('API1 Broken Object Level Authorization', () => {
  test("an Idempotency-Key never returns the answer to another account's request", async () => {
    const headers = { 'idempotency-key': 'shared' };
    const own = await readJson(await service.post(key, rex, headers));
    const other = await service.post(await service.createKey(), rex, headers);
    assert.equal(other.status, 201);
    assert.equal(other.headers.get('idempotent-replayed'), null);
    assert.notEqual((await readJson(other))['id'], own['id']);
  });
});

describe('API2 Broken Authentication', () => {
  test('wrong keys get the same answer, wherever they differ from a valid key', async () => {
    const wrong = [3, 10, 20, 30].map(
      (at) => key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1),
    );
    const bodies = await Promise.all(
      wrong.map(async (text) => (await service.request(text, '/pets')).text()),
    );
    assert.equal(new Set(bodies).size, 1);
  });
});

describe('API3 Broken Object Property Level Authorization', () => {
  test('fields that a client may not set are ignored, and undocumented fields are never returned', async () => {
    const sent = {
      ...rex,
      id: 1_000_000,
      createdAt: 0,
      account: 1,
      isAdmin: true,
      ['__proto__']: { status: 'sold' },
    };
    const added = await readJson(await service.post(key, sent));
    assert.deepEqual(Object.keys(added), ['id', 'name', 'categoryId', 'status']);
    assert.notEqual(added['id'], sent.id);
    assert.equal(added['status'], 'available');
    const got = await readJson(await service.request(key, `/pets/${added['id']}`));
    assert.deepEqual(got, added);
  });
});

describe('API4 Unrestricted Resource Consumption', () => {
  test('a page, a body, its nesting and its numbers have bounds, and a compressed body is not unpacked', async () => {
    await expectError(await service.request(key, '/pets?limit=101'), 400, 'invalid_parameter');
    await expectError(await service.post(key, ' '.repeat(bodyBytesMax + 1)), 413, 'payload_too_large');
    const headers = { 'content-encoding': 'gzip' };
    await expectError(await service.post(key, '\x1f\x8b', headers), 415, 'unsupported_media_type');
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    for (const body of [
      deep,
      `{"name":"Rex","categoryId":${'9'.repeat(60_000)}}`,
      '{"name":"Rex","categoryId":1e999999}',
    ])
      await expectError(await service.post(key, body), 400, 'invalid_body');
  });
});

describe('API5 Broken Function Level Authorization', () => {
  test('a key with only read scopes adds nothing', async () => {
    const reader = await service.createKey('pro', undefined, { scopes: ['pets:read'] });
    const before = await service.countPets();
    await expectError(await service.post(reader, rex), 403, 'scope_missing');
    assert.equal(await service.countPets(), before);
  });

  test("the public port serves nothing of the operator's port, and vice versa", async () => {
    for (const path of ['/metrics', '/healthz', '/readyz', '/v1/metrics', '/v1/healthz'])
      assert.equal(
        (await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } })).status,
        404,
        path,
      );
    for (const path of ['/v1/pets', '/v1/pets/1', '/docs', '/openapi.json'])
      assert.equal((await fetch(service.app.opsUrl + path)).status, 404, path);
  });

  test('X-HTTP-Method-Override has no effect', async () => {
    const headers = { 'x-http-method-override': 'DELETE' };
    assert.equal((await service.request(key, '/pets', { headers })).status, 200);
  });
});

describe('API6 Unrestricted Access to Sensitive Business Flows', () => {
  test('a client that floods the catalogue is refused by its limit and then banned', async (t) => {
    const strict = await startService(t);
    const flooder = await strict.createKey('free');
    const codes: unknown[] = [];
    for (let count = 0; count < 121; count += 1) {
      const answer = await strict.post(flooder, rex);
      if (answer.status !== 201) codes.push((await readJson(answer))['code']);
    }
    assert.equal(await strict.countPets(), 60);
    assert.deepEqual(codes, [...Array(60).fill('rate_limit_exceeded'), 'key_banned']);
  });
});

describe('API7 Server Side Request Forgery', () => {
  test('an address in the headers of a client is neither requested nor trusted', async (t) => {
    let calls = 0;
    const bait = createServer((socket) => {
      calls += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    t.after(() => bait.close());
    await once(bait, 'listening');
    const address = bait.address();
    assert.ok(address !== null && typeof address === 'object');
    const url = `http://127.0.0.1:${address.port}/x`;
    const host = new URL(url).host;
    const named = {
      'x-forwarded-host': host,
      'x-forwarded-for': '127.0.0.1',
      forwarded: `host=${host}`,
      referer: url,
      origin: url,
      'x-original-url': url,
    };
    await service.importPets(3);
    const added = await service.post(key, { name: url, categoryId: 1, url, callback: url }, named);
    const listed = await service.request(key, `/pets?limit=1&url=${encodeURIComponent(url)}`, {
      headers: named,
    });
    const text = formatRequest(`GET ${url}`, { ...named, host, authorization: `Bearer ${key}` });
    const [absolute] = await exchangeRaw(t, service.baseUrl, text);
    assert.equal(added.headers.get('location')?.startsWith('/v1/pets/'), true);
    assert.match(listed.headers.get('link') ?? '', /^<\/v1\/pets\?limit=1&cursor=/);
    assert.equal(absolute?.status, 404);
    assert.equal(calls, 0);
  });
});

describe('API8 Security Misconfiguration', () => {
  const answers: readonly (readonly [what: string, ask: () => Promise<Response>])[] = [
    ['200', () => service.request(key, '/pets')],
    ['201', () => service.post(key, rex)],
    [
      '304',
      async () => {
        const etag = (await service.request(key, '/pets/1')).headers.get('etag') ?? '';
        return service.request(key, '/pets/1', { headers: { 'if-none-match': etag } });
      },
    ],
    ['400', () => service.post(key, '{')],
    ['401', () => service.request(null, '/pets')],
    ['404', () => service.request(key, '/pets/none')],
    ['405', () => service.request(key, '/pets', { method: 'DELETE' })],
    ['the description', () => fetch(`${origin}/openapi.json`)],
    ['a page', () => fetch(`${origin}/docs`)],
  ];

  for (const [what, ask] of answers)
    test(`the answer "${what}" reveals no product, has nosniff, and allows no page of another origin`, async () => {
      const { headers } = await ask();
      for (const name of ['server', 'x-powered-by', 'via', 'access-control-allow-origin', 'set-cookie'])
        assert.equal(headers.get(name), null, name);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
    });

  test('an answer to a request with a key is private, and a failure has no-store', async () => {
    assert.equal((await service.request(key, '/pets')).headers.get('cache-control'), 'private, no-cache');
    assert.equal((await service.request(key, '/none')).headers.get('cache-control'), 'no-store');
    assert.equal((await service.request(null, '/pets')).headers.get('cache-control'), 'no-store');
  });
});

describe('API9 Improper Inventory Management', () => {
  test('no other API version is served', async () => {
    const headers = { authorization: `Bearer ${key}` };
    for (const path of ['/v0/pets', '/v2/pets', '/pets', '/api/v1/pets', '/beta/pets'])
      assert.equal((await fetch(origin + path, { headers })).status, 404, path);
  });
});

describe('API10 Unsafe Consumption of APIs', () => {
  test('the source connects only to the database, to Redis and, in one file, to webhooks', async () => {
    const sender = 'webhooks/post-message.ts';
    const source = join(import.meta.dirname, '../../src');
    const entries = await readdir(source, { recursive: true });
    for (const file of entries.filter((name) => name.endsWith('.ts') && name !== sender)) {
      const text = await readFile(join(source, file), 'utf8');
      assert.doesNotMatch(
        text,
        /\bfetch\(|from '(?:undici|node:https|node:http2)'|\b(?:http|https)\.(?:get|request)\(|\{[^}]*\brequest\b[^}]*\} from 'node:http'/,
        file,
      );
    }
  });
});
