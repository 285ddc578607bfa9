import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { askedHeadersBytesMax, askedHeadersMax } from '../../../src/http/response/cors.ts';
import { expectCommonHeaders, expectError, expectHeaders } from '../../support/expect-error.ts';
import { startWithKey } from '../../support/service.ts';

const listed = 'https://app.example.com';
const { service, key } = await startWithKey({ after }, { CORS_ORIGINS: `${listed}, http://localhost:3000` });

const ownHeaders = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer';

function preflight(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const asked = { origin: listed, 'access-control-request-method': 'POST', ...headers };
  return service.request(null, path, { method: 'OPTIONS', headers: asked });
}

test('an origin that is not listed is ignored', async () => {
  const near = ['https://app.example.com.evil.example', 'http://app.example.com', `${listed}:8443`];
  for (const origin of ['https://evil.example', ...near, listed.toUpperCase(), 'null', '*', '']) {
    const response = await service.request(key, '/pets', { headers: { origin } });
    assert.equal(response.status, 200);
    const refused = { 'access-control-allow-origin': null, 'access-control-expose-headers': null };
    expectHeaders(response, { ...refused, vary: 'Origin' });
  }
  const preflighted = await preflight('/pets', { origin: 'https://evil.example' });
  await expectError(preflighted, 401, 'api_key_missing');
});

const paths = ['/pets', '/pets/1', '/nothing', '/%zz'];

test('a preflight of a listed origin is answered without a key for every path', async () => {
  for (const path of paths) {
    const response = await preflight(path);
    assert.equal(response.status, 204);
    assert.equal(await response.text(), '');
    assert.equal(response.headers.get('access-control-allow-origin'), listed);
    assert.equal(response.headers.get('access-control-allow-methods'), 'DELETE, GET, HEAD, PATCH, POST, PUT');
    assert.equal(response.headers.get('access-control-allow-headers'), ownHeaders);
    assert.match(response.headers.get('access-control-max-age') ?? '', /^\d+$/);
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
    expectCommonHeaders(response);
  }
});

test('a preflight of a listed origin is not counted', async () => {
  const left = await service.readLeft(null);
  for (const path of paths) await preflight(path);
  assert.equal(await service.readLeft(null), left - 1);
});

async function askFor(names: string): Promise<string | null> {
  const { headers } = await preflight('/pets', { 'access-control-request-headers': names });
  return headers.get('access-control-allow-headers');
}

const longest = `x-${'a'.repeat(askedHeadersBytesMax - 2)}`;
const most = Array.from({ length: askedHeadersMax }, (_, place) => `x-${place}`).join();

test('a listed origin may send every header that it asks for, up to 64 names in 4 KiB', async () => {
  const names = [
    'baggage',
    'authorization,traceparent,x-custom',
    'traceparent , tracestate',
    "!#$%&'*+-.^_`|~9Z",
  ];
  for (const asked of [...names, most, longest]) assert.equal(await askFor(asked), asked);
});

test('a preflight with too many or with invalid header names is allowed only the headers of the service', async () => {
  const wrongs = ['', ',', 'a,,b', 'a,', 'a b', 'a:b', '"a"', 'a;b', '(a)', 'é', '\xa0a', '*/*'];
  for (const asked of [...wrongs, `${most},a`, `${longest}a`, `a,${longest.slice(1)}`])
    assert.equal(await askFor(asked), ownHeaders, asked);
});

test("the operator's port answers no preflight", async () => {
  const headers = { origin: listed, 'access-control-request-method': 'GET' };
  for (const path of ['/metrics', '/readyz', '/console']) {
    const response = await fetch(service.app.opsUrl + path, { method: 'OPTIONS', headers });
    assert.ok(response.status >= 400);
    const names = ['origin', 'headers', 'methods'].map((name) => `access-control-allow-${name}`);
    expectHeaders(response, Object.fromEntries(names.map((name) => [name, null])));
  }
});

test('a page can read every header that an answer may have', async () => {
  const response = await service.request(key, '/pets', { headers: { origin: listed } });
  const readable = (response.headers.get('access-control-expose-headers') ?? '').split(', ');
  const description = await fetch(`${service.app.url}/openapi.json`);
  const { components } = (await description.json()) as { components: { headers: object } };
  const described = Object.keys(components.headers).map((name) => name.replace(/^.+Link$/, 'Link'));
  const hidden = described.filter((name) => !readable.includes(name));
  assert.deepEqual(hidden, ['Vary', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']);
});

test('an answer does not allow a page to send credentials', async () => {
  const response = await service.request(key, '/pets', { headers: { origin: listed } });
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
});

test('an OPTIONS request that is no preflight gets 405', async () => {
  const options = await service.request(key, '/pets', { method: 'OPTIONS', headers: { origin: listed } });
  await expectError(options, 405, 'method_not_allowed');
});

test('without CORS_ORIGINS no origin is allowed and no answer has Vary', async (t) => {
  const { service: closed, key: closedKey } = await startWithKey(t);
  const headers = { origin: listed, 'access-control-request-method': 'GET' };
  const response = await closed.request(closedKey, '/pets', { headers });
  expectHeaders(response, { 'access-control-allow-origin': null, vary: null });
  const preflighted = await closed.request(null, '/pets', { method: 'OPTIONS', headers });
  await expectError(preflighted, 401, 'api_key_missing');
});
