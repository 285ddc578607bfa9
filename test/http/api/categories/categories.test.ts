import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { expectError } from '../../../support/expect-error.ts';
import { startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after }, {}, 'enterprise', undefined, { scopes });

const put = (id: string | number, body: unknown) => service.send(key, `PUT /categories/${id}`, body);
const remove = (id: string | number) => service.send(key, `DELETE /categories/${id}`);
const list = async (path = '/categories?limit=100') => (await service.request(key, path)).text();

test('PUT gets 201 and then 200 with the category', async () => {
  const added = await put(3, { name: 'Dogs', id: 9 });
  assert.equal(added.status, 201);
  assert.equal(await added.text(), '{"id":3,"name":"Dogs"}');
  const renamed = await put(3, { name: 'Cats' });
  assert.equal(renamed.status, 200);
  assert.equal(await renamed.text(), '{"id":3,"name":"Cats"}');
  assert.equal(await list(), '[{"id":3,"name":"Cats"}]');
  await remove(3);
});

test('DELETE gets 204 and then 404', async () => {
  await put(3, { name: 'Dogs' });
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

test('categories are listed by id in pages', async () => {
  const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
  for (const id of ids.toReversed()) await put(id, { name: `c${id}` });
  const pages = await Array.fromAsync(service.walk(key, '/categories?limit=2'), (page) => page.text());
  const found = pages.flatMap((page) => page.match(/(?<="id":)-?\d+/g));
  assert.deepEqual(found, ids);
});

test('a category id that is not canonical gets 404', async () => {
  for (const id of 'abc 007 1.0 -0 +1 9223372036854775808'.split(' ')) {
    await expectError(await put(id, { name: 'a' }), 404, 'not_found');
    await expectError(await remove(id), 404, 'not_found');
  }
});
