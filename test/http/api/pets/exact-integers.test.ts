import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after });

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
  test(`a categoryId that was sent as ${sent} is returned as ${kept} by every operation`, async () => {
    const response = await service.post(key, `{"name":"Rex","categoryId":${sent}}`);
    const path = (response.headers.get('location') ?? '').slice('/v1'.length);
    const pet = `{"id":${path.slice('/pets/'.length)},"name":"Rex","categoryId":${kept},"status":"available"}`;
    assert.equal(await response.text(), pet);
    assert.equal(await (await service.request(key, path)).text(), pet);
    assert.equal(await (await service.request(key, `/pets?limit=1&categoryId=${kept}`)).text(), `[${pet}]`);
  });

for (const [what, last] of [
  ['above 2^53', 2n ** 53n],
  ['up to the greatest', 2n ** 63n - 3n],
] as const)
  test(`ids ${what} are exact in answers, addresses, lists and cursors`, async (t) => {
    const { service: late, key: lateKey } = await startWithKey(t);
    await late.importPets(1);
    late.openFile().exec(`update sqlite_sequence set seq = ${last} where name = 'pets'`);
    const ids = [last + 1n, last + 2n];
    for (const id of ids) {
      const added = await late.post(lateKey, { name: 'omega', categoryId: 1 });
      assert.equal(added.headers.get('location'), `/v1/pets/${id}`);
      const text = await added.text();
      assert.ok(text.startsWith(`{"id":${id},`));
      assert.equal(await (await late.request(lateKey, `/pets/${id}`)).text(), text);
    }
    assert.equal((await late.request(lateKey, `/pets/${last}`)).status, 404);
    const listed: string[] = [];
    for await (const list of late.walk(lateKey, '/pets?limit=1'))
      listed.push(/"id":(\d+)/.exec(await list.text())?.[1] ?? '');
    assert.deepEqual(listed, [...ids.toReversed(), 1n].map(String));
  });
