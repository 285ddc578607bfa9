import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import { expectError } from '../../support/expect-error.ts';
import { exchangeRaw, formatRequest } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ after });
await service.importPets(3);

// Requests without a key count for the address, so each test starts on a new day.
beforeEach(() => service.clock.advance(dayMs));

for (const target of [
  '/v1/pets',
  '/V1/pets',
  '/%76%31/pets',
  '/%76%31/nothing',
  '/v1/%70ets',
  '/v1%2Fpets',
  '/v1%2fpets/1',
  '/v1//pets',
  '/v1/./pets',
  '/v1/../v1/pets',
  '/v1/pets/../pets',
  '/v1?x',
  '/v1#x',
  '/v1/pets;x=1',
  'http://localhost/v1/pets',
  'HTTPS://evil.example:1/%76%31/pets',
  '/%zz',
  '/%76%31/%ff',
])
  test(`${target} gets 401 without a key`, async (t) => {
    const [response] = await exchangeRaw(t, service.baseUrl, formatRequest(`GET ${target}`, {}));
    await expectError(response ?? assert.fail(), 401, 'api_key_missing');
  });

for (const target of [
  '//v1/pets',
  '/./v1/pets',
  '/x/../v1/pets',
  '/%2576%2531/pets',
  '/\\v1/pets',
  '/pets',
  '*',
])
  test(`${target} reaches no operation without a key`, async (t) => {
    const [response] = await exchangeRaw(t, service.baseUrl, formatRequest(`GET ${target}`, {}));
    assert.ok(response && response.status >= 400, `${response?.status}`);
    assert.doesNotMatch(response.body, /n1/);
  });

test('an unknown address outside /v1 gets 404 without a key', async () => {
  for (const path of ['/nothing', '/v2/pets', '/v11'])
    await expectError(await fetch(service.app.url + path), 404, 'not_found');
});
