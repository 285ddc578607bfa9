import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectCommonHeaders, expectError, expectHeaders } from '../../support/expect-error.ts';
import { startWithKey } from '../../support/service.ts';

const listed = 'https://app.example.com';
const { service, key } = await startWithKey({ after }, { CORS_ORIGINS: `${listed}, http://localhost:3000` });

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

test('a preflight of a listed origin is answered without a key for every path, and is not counted', async () => {
  const left = await service.readLeft(null);
  for (const path of ['/pets', '/pets/1', '/nothing', '/%zz']) {
    const response = await preflight(path);
    assert.equal(response.status, 204);
    assert.equal(await response.text(), '');
    assert.equal(response.headers.get('access-control-allow-origin'), listed);
    assert.equal(response.headers.get('access-control-allow-methods'), 'DELETE, GET, HEAD, PATCH, POST, PUT');
    const allowed = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer';
    assert.equal(response.headers.get('access-control-allow-headers'), allowed);
    assert.match(response.headers.get('access-control-max-age') ?? '', /^\d+$/);
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
    expectCommonHeaders(response);
  }
  assert.equal(await service.readLeft(null), left - 1);
});

test('a page can read every header that an answer may have, and send no credentials and no OPTIONS of its own', async () => {
  const response = await service.request(key, '/pets', { headers: { origin: listed } });
  const readable = (response.headers.get('access-control-expose-headers') ?? '').split(', ');
  const description = await fetch(`${service.app.url}/openapi.json`);
  const { components } = (await description.json()) as { components: { headers: object } };
  const described = Object.keys(components.headers).map((name) => name.replace(/^.+Link$/, 'Link'));
  const hidden = described.filter((name) => !readable.includes(name));
  assert.deepEqual(hidden, ['Vary', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']);
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
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
