import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { expectCommonHeaders, expectError } from '../../../support/expect-error.ts';
import { exchangeRaw, formatRequest } from '../../../support/raw-http.ts';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey('enterprise', undefined, { scopes });

async function add(): Promise<string> {
  const added = await service.post(key, { name: 'Rex', categoryId: 7 });
  return (added.headers.get('location') ?? '').replace('/v1', '');
}

function remove(path: string, headers: Record<string, string> = {}) {
  return service.request(key, path, { method: 'DELETE', headers });
}

test('DELETE /pets/{petId} gets 204 without a body, and 404 from then on', async () => {
  const path = await add();
  const response = await remove(path);
  assert.equal(response.status, 204);
  assert.equal(await response.text(), '');
  assert.equal(response.headers.get('content-length'), null);
  assert.equal(response.headers.get('deprecation'), null);
  expectCommonHeaders(response);
  await expectError(await remove(path), 404, 'not_found');
  await expectError(await service.request(key, path), 404, 'not_found');
});

test('the connection stays usable after a 204, even if the request had a body', async (t) => {
  const path = await add();
  const headers = { authorization: `Bearer ${key}` };
  const first = formatRequest(
    `DELETE /v1${path}`,
    { ...headers, connection: 'keep-alive', 'content-length': '2' },
    '{}',
  );
  const second = formatRequest('GET /v1/pets', headers);
  const [deleted, listed] = await exchangeRaw(t, service.baseUrl, first + second);
  assert.deepEqual([deleted?.status, deleted?.body, listed?.status], [204, '', 200]);
});

test('DELETE gets 412 for another ETag, 400 for an invalid If-Match, and 404 for an unknown animal with any If-Match', async () => {
  const path = await add();
  const tag = (await service.request(key, path)).headers.get('etag') ?? '';
  for (const value of ['"x"', `W/${tag}`])
    await expectError(await remove(path, { 'if-match': value }), 412, 'precondition_failed');
  await expectError(await remove(path, { 'if-match': 'x' }), 400, 'invalid_parameter');
  for (const id of ['0', 'abc', '007', '1.0', '-0', '9223372036854775808'])
    for (const headers of [{}, { 'if-match': '"x"' }, { 'if-match': '*' }])
      await expectError(await remove(`/pets/${id}`, headers), 404, 'not_found');
  assert.equal((await remove(path, { 'if-match': `"x", ${tag}` })).status, 204);
});
