import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres, sqliteEngine } from '../../support/engines.ts';
import { expectError } from '../../support/expect-error.ts';
import { nextOf } from '../../support/service.ts';
import { startOn } from '../engine-service.ts';

/** Returns the headers that must be equal in two answers to the same request. */
function listSteadyHeaders({ headers }: Response) {
  const changing = /^(?:date|x-request-id|x-ratelimit-remaining|ratelimit)$/;
  return [...headers].filter(([name]) => !changing.test(name));
}

for (const engine of [sqliteEngine, await findPostgres()])
  test(`${engine.name}: an answer from the cache equals the answer from the store and counts once`, {
    skip: engine.skip,
  }, async (t) => {
    const { service, key } = await startOn(t, engine);
    await service.post(key, '{"name":"Zoë","categoryId":9007199254740993}');
    const second = nextOf(await service.request(key, '/pets?limit=1')) ?? '';
    const ofStatus = nextOf(await service.request(key, '/pets?limit=1&status=pending')) ?? '';
    const paths = ['/pets/2', '/pets/6', '/pets', '/pets?limit=2', '/pets?status=sold&limit=9'];
    for (const path of [...paths, second, ofStatus]) {
      const answers: Response[] = [];
      // A request with strict handling bypasses the cache.
      for (const prefer of ['', '', 'handling=strict'])
        answers.push(await service.request(key, path, { headers: { prefer } }));
      const [first = assert.fail(), ...others] = answers;
      const body = await first.text();
      assert.equal(first.status, 200, path);
      for (const other of others) {
        assert.deepEqual(listSteadyHeaders(other), listSteadyHeaders(first), path);
        assert.equal(await other.text(), body, path);
      }
      const most = Number(first.headers.get('x-ratelimit-remaining'));
      for (const [index, { headers }] of answers.entries())
        assert.equal(headers.get('x-ratelimit-remaining'), String(most - index));
    }
  });

test('a key that lacks the scope or is missing gets no cached answer', async (t) => {
  const { service, key } = await startOn(t, sqliteEngine);
  const writer = await service.createKey('enterprise', undefined, { scopes: ['pets:write'] });
  for (const path of ['/pets', '/pets/1']) {
    for (let again = 0; again < 2; again += 1) assert.equal((await service.request(key, path)).status, 200);
    const refused = await service.request(writer, path);
    const headers = { 'www-authenticate': 'Bearer error="insufficient_scope"' };
    await expectError(refused, 403, 'scope_missing', headers);
    await expectError(await service.request(null, path), 401, 'api_key_missing');
  }
});

test('an id that has the form of an animal with a query gets no cached answer', async (t) => {
  const { service, key } = await startOn(t, sqliteEngine);
  assert.equal((await service.request(key, '/pets/1?x=1')).status, 200);
  await expectError(await service.request(key, '/pets/1%201%3Fx=1'), 404, 'not_found');
});
