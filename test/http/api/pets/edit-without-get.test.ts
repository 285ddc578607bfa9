import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { describeOnEngines, type Engine } from '../../../support/engines.ts';
import { expectError } from '../../../support/expect-error.ts';
import { startOn } from '../../engine-service.ts';

const rex = { name: 'Rex "é 猫"', categoryId: 9_007_199_254_740_993n, status: 'available' };
const body = `{"name":${JSON.stringify(rex.name)},"categoryId":${rex.categoryId}}`;

async function open(t: TestContext, engine: Engine) {
  const { service } = await startOn(t, engine);
  const key = await service.createKey('enterprise', undefined, { scopes });
  const patch = (path: string, tag: string, change: object) =>
    service.send(key, `PATCH ${path}`, change, { 'if-match': tag });
  return { service, key, patch };
}

function readTag({ headers }: Response): string {
  return headers.get('etag') ?? assert.fail('no ETag');
}

function readPath({ headers }: Response): string {
  return (headers.get('location') ?? assert.fail('no Location')).replace('/v1', '');
}

await describeOnEngines('an edit needs no GET', (engine) => {
  for (const [how, headers] of Object.entries({
    'POST /pets': {},
    'POST /pets with an Idempotency-Key': { 'idempotency-key': 'a' },
  }))
    test(`because If-Match takes the ETag of ${how}`, async (t) => {
      const { service, key, patch } = await open(t, engine);
      const added = await service.post(key, body, headers);
      assert.equal(added.status, 201);
      assert.equal(readTag(added), readTag(await service.request(key, readPath(added))));
      assert.equal((await patch(readPath(added), readTag(added), { status: 'sold' })).status, 200);
    });

  test('because If-Match takes the ETag of each PATCH', async (t) => {
    const { service, key, patch } = await open(t, engine);
    const added = await service.post(key, body);
    let tag = readTag(added);
    for (const change of [{ name: 'Max' }, { status: 'sold' }, { status: 'sold' }, { categoryId: 1 }]) {
      const changed = await patch(readPath(added), tag, change);
      assert.equal(changed.status, 200);
      tag = readTag(changed);
    }
    assert.equal(tag, readTag(await service.request(key, readPath(added))));
  });

  test('when a POST is replayed, while nobody has changed the animal', async (t) => {
    const { service, key, patch } = await open(t, engine);
    const send = () => service.post(key, body, { 'idempotency-key': 'a' });
    const first = await send();
    const again = await send();
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(readTag(again), readTag(first));
    assert.equal((await patch(readPath(again), readTag(again), { name: 'Max' })).status, 200);
  });

  test('but a replay has the first ETag, which an animal changed since refuses', async (t) => {
    const { service, key, patch } = await open(t, engine);
    const send = () => service.post(key, body, { 'idempotency-key': 'a' });
    const first = await send();
    await patch(readPath(first), '*', { name: 'Max' });
    const again = await send();
    assert.equal(readTag(again), readTag(first));
    const refused = await patch(readPath(again), readTag(again), { name: 'Ben' });
    await expectError(refused, 412, 'precondition_failed');
  });
});
