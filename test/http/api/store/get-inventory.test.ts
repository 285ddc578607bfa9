import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../../support/expect-error.ts';
import { startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after });

test('the inventory has a time and the number of animals of each status', async () => {
  for (const status of ['available', 'available', 'sold'])
    await service.post(key, { name: 'Rex', categoryId: 3, status });
  await service.post(key, { name: 'Rex', categoryId: 4, status: 'pending' });
  const read = async (query = '') =>
    (await (await service.request(key, `/store/inventory${query}`)).json()) as { readonly asOf: string };
  const { asOf, ...all } = await read();
  assert.deepEqual(all, { available: 2, pending: 1, sold: 1 });
  assert.equal(new Date(asOf).toISOString(), asOf);
  assert.partialDeepStrictEqual(await read('?categoryId=3'), { available: 2, pending: 0, sold: 1 });
  const none = await read('?categoryId=-9223372036854775808');
  assert.partialDeepStrictEqual(none, { available: 0, pending: 0, sold: 0 });
});

test('the ETag of the inventory does not depend on the time', async () => {
  const etagOf = async () => (await service.request(key, '/store/inventory')).headers.get('etag') ?? '';
  const etag = await etagOf();
  assert.equal(await etagOf(), etag);
  const headers = { 'if-none-match': etag };
  assert.equal((await service.request(key, '/store/inventory', { headers })).status, 304);
  await service.post(key, { name: 'Rex', categoryId: 3 });
  assert.notEqual(await etagOf(), etag);
  assert.equal((await service.request(key, '/store/inventory', { headers })).status, 200);
});

test('a categoryId that is not a canonical int64 gets a 400 that names it', async () => {
  for (const text of '007 1.0 1e2 abc 9223372036854775808 +1 -0'.split(' ')) {
    const response = await service.request(key, `/store/inventory?categoryId=${text}`);
    assert.match(await expectError(response, 400, 'invalid_parameter'), /^categoryId must be/);
  }
});
