import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();

const same = '9223372036854775807 -9223372036854775808 9007199254740993 -9007199254740993 0 -1'.split(' ');
const categories: Readonly<Record<string, string>> = {
  ...Object.fromEntries(same.map((literal) => [literal, literal])),
  '-0': '0',
  '1.0': '1',
  '1E+2': '100',
  '10e-1': '1',
  '9.223372036854775807e18': '9223372036854775807',
  '9007199254740993.000': '9007199254740993',
};
for (const [sent, kept] of Object.entries(categories))
  test(`a categoryId that was sent as ${sent} is returned as ${kept} by POST, GET and the list`, async () => {
    const response = await service.post(key, `{"name":"Rex","categoryId":${sent}}`);
    const path = (response.headers.get('location') ?? '').slice('/v1'.length);
    const pet = `{"id":${path.slice('/pets/'.length)},"name":"Rex","categoryId":${kept},"status":"available"}`;
    assert.equal(await response.text(), pet);
    assert.equal(await (await service.request(key, path)).text(), pet);
    assert.equal(await (await service.request(key, '/pets?limit=1')).text(), `[${pet}]`);
  });

test('a replayed answer has exact integers', async () => {
  const headers = { 'idempotency-key': 'exact' };
  const body = '{"name":"Rex","categoryId":9223372036854775807}';
  const first = await (await service.post(key, body, headers)).text();
  assert.match(first, /"categoryId":9223372036854775807,/);
  assert.equal(await (await service.post(key, body, headers)).text(), first);
});

test('ids above 2^53 are exact in answers, addresses, lists, cursors and ETags', async (t) => {
  const late = await startService(t);
  const lateKey = await late.createKey();
  await late.importPets(1);
  late.openFile().exec(`update sqlite_sequence set seq = ${2n ** 53n} where name = 'pets'`);
  for (const name of ['a', 'b', 'c']) await late.post(lateKey, { name, categoryId: 1 });

  const list = await late.request(lateKey, '/pets?limit=2');
  assert.deepEqual(
    [...(await list.text()).matchAll(/"id":(\d+)/g)].map(([, id]) => id),
    ['9007199254740995', '9007199254740994'],
  );
  const next = /<\/v1([^>]+)>/.exec(list.headers.get('link') ?? '')?.[1] ?? '';
  assert.match(await (await late.request(lateKey, next)).text(), /^\[\{"id":9007199254740993,.*\{"id":1,/);
  const got = await late.request(lateKey, '/pets/9007199254740993');
  assert.match(await got.text(), /^\{"id":9007199254740993,"name":"a",/);
  assert.equal((await late.request(lateKey, '/pets/9007199254740992')).status, 404);
});

test('the greatest id works in a GET, a list and a cursor', async (t) => {
  const last = await startService(t);
  const lastKey = await last.createKey();
  await last.importPets(1);
  last.openFile().exec(`update sqlite_sequence set seq = ${2n ** 63n - 2n} where name = 'pets'`);
  const added = await last.post(lastKey, { name: 'omega', categoryId: 1 });
  assert.equal(added.headers.get('location'), '/v1/pets/9223372036854775807');
  assert.match(await added.text(), /^\{"id":9223372036854775807,/);
  const got = await last.request(lastKey, '/pets/9223372036854775807');
  assert.match(await got.text(), /^\{"id":9223372036854775807,/);
  const list = await last.request(lastKey, '/pets?limit=1');
  assert.match(await list.text(), /^\[\{"id":9223372036854775807,/);
  const next = /<\/v1([^>]+)>/.exec(list.headers.get('link') ?? '')?.[1] ?? '';
  assert.match(await (await last.request(lastKey, next)).text(), /^\[\{"id":1,/);
});
