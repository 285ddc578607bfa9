import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../../support/expect-error.ts';
import { startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after });
await service.post(key, { name: 'Rex', categoryId: 7, status: 'sold' });

const unknown = '2 0 -1 9223372036854775807 -9223372036854775808 9007199254740993'.split(' ');
const noInt64 =
  'abc 1.0 1e0 01 007 +1 -0 0x1 1n %201 1%20 1%00 %D9%A1 1%2F 1;a=b 9223372036854775808 -9223372036854775809 18446744073709551617 undefined __proto__';
for (const petId of [...unknown, ...noInt64.split(' '), '1'.repeat(101), '1'.repeat(8_000)])
  test(`the id ${petId.slice(0, 30)}, which no animal has, gets 404`, async () => {
    const response = await service.request(key, `/pets/${petId}`);
    assert.match(await expectError(response, 404, 'not_found'), /^petId/);
    assert.ok(response.headers.get('deprecation'));
  });

test('GET /pets/{petId} decodes a percent-encoded id and ignores query parameters', async () => {
  for (const path of ['/pets/1', '/pets/%31', '/pets/1?limit=0&status=x']) {
    const text = await (await service.request(key, path)).text();
    assert.equal(text, '{"id":1,"name":"Rex","categoryId":7,"status":"sold"}');
  }
});

test('GET /pets/ with an empty id gets 404', async () => {
  await expectError(await service.request(key, '/pets/'), 404, 'not_found');
});

test('every response of the operation announces its deprecation, its removal and its replacement', async () => {
  const withoutScope = await service.createKey('enterprise', undefined, { scopes: ['pets:write'] });
  const exhausted = await service.createKey('enterprise', { perMinute: 1, perDay: 1 });
  await service.request(exhausted, '/pets');
  const responses = {
    200: await service.request(key, '/pets/1'),
    304: await service.request(key, '/pets/1', { headers: { 'if-none-match': '*' } }),
    401: await service.request(null, '/pets/1'),
    403: await service.request(withoutScope, '/pets/1'),
    404: await service.request(key, '/pets/2'),
    429: await service.request(exhausted, '/pets/1'),
  };
  for (const [status, response] of Object.entries(responses)) {
    assert.equal(response.status, Number(status));
    const [, seconds] = /^@(\d+)$/.exec(response.headers.get('deprecation') ?? '') ?? [];
    assert.ok(Number(seconds) * 1000 < Date.UTC(2030, 11, 5));
    assert.equal(response.headers.get('sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
    assert.match(response.headers.get('link') ?? '', /^<\/v1\/pets>; rel="successor-version"(?:, |$)/);
  }
});

test('the operation works until the last millisecond before 5 December 2030 and gets 410 from then on', async (t) => {
  const { service: aging, key: agingKey } = await startWithKey(t);
  await aging.importPets(1);
  aging.clock.advance(Date.UTC(2030, 11, 5) - 1 - aging.clock.now());
  assert.equal((await aging.request(agingKey, '/pets/1')).status, 200);
  aging.clock.advance(1);
  for (const path of ['/pets/1', '/pets/none']) {
    const gone = await aging.request(agingKey, path, { headers: { 'if-none-match': '*' } });
    const link = '</v1/pets>; rel="successor-version", </docs/errors#gone>; rel="help"';
    await expectError(gone, 410, 'gone', { sunset: 'Thu, 05 Dec 2030 00:00:00 GMT', link });
  }
  assert.equal((await aging.request(agingKey, '/pets/1', { method: 'HEAD' })).status, 410);
  await expectError(await aging.request(null, '/pets/1'), 401, 'api_key_missing');
  assert.equal((await aging.request(agingKey, '/pets')).status, 200);
});
