import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { expectCommonHeaders, expectError } from '../../../support/expect-error.ts';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey('enterprise', undefined, { scopes });

function put(id: string | number, body: unknown) {
  return service.send(key, `PUT /categories/${id}`, body);
}

function remove(id: string | number) {
  return service.request(key, `/categories/${id}`, { method: 'DELETE' });
}

async function list(path = '/categories?limit=100'): Promise<string> {
  return (await service.request(key, path)).text();
}

test('PUT gets 201 and then 200 with the category, and DELETE gets 204 and then 404', async () => {
  const added = await put(3, { name: 'Dogs', id: 9 });
  assert.equal(added.status, 201);
  assert.equal(await added.text(), '{"id":3,"name":"Dogs"}');
  expectCommonHeaders(added);
  const renamed = await put(3, { name: 'Cats' });
  assert.equal(renamed.status, 200);
  assert.equal(await renamed.text(), '{"id":3,"name":"Cats"}');
  assert.equal(await list(), '[{"id":3,"name":"Cats"}]');
  assert.equal((await remove(3)).status, 204);
  await expectError(await remove(3), 404, 'not_found');
  assert.equal(await list(), '[]');
});

test('the audit log names the key that gave a category its name', async () => {
  const [listed] = await service.store.keyring.list();
  await put(11, { name: 'Dogs' });
  await remove(11);
  const { items: entries } = await service.store.audit.list({ subject: '11', limit: 10 });
  assert.deepEqual(
    entries.map(({ actor, action }) => [actor, action]),
    ['category.deleted', 'category.changed'].map((action) => [{ kind: 'key', name: listed?.id }, action]),
  );
});

test('animals keep the categoryId of a deleted category', async () => {
  await put(7, { name: 'Dogs' });
  await service.post(key, { name: 'Rex', categoryId: 7 });
  await remove(7);
  assert.match(await list('/pets?categoryId=7'), /"categoryId":7/);
});

test('categories are listed by id in pages, with an ETag that changes with their content', async () => {
  const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
  for (const id of ids.toReversed()) await put(id, { name: `c${id}` });
  const found: string[] = [];
  for await (const response of service.walk(key, '/categories?limit=2'))
    found.push(...[...(await response.text()).matchAll(/"id":(-?\d+)/g)].map(([, id = '']) => id));
  assert.deepEqual(found, ids);
  const etag = (await service.request(key, '/categories')).headers.get('etag') ?? '';
  const asked = { headers: { 'if-none-match': etag } };
  assert.equal((await service.request(key, '/categories', asked)).status, 304);
  await put(0, { name: 'zero' });
  assert.equal((await service.request(key, '/categories', asked)).status, 200);
  for (const id of ids) await remove(id);
});

test('a category id that is not canonical gets 404', async () => {
  for (const id of 'abc 007 1.0 -0 +1 9223372036854775808'.split(' ')) {
    await expectError(await put(id, { name: 'a' }), 404, 'not_found');
    await expectError(await remove(id), 404, 'not_found');
  }
});
