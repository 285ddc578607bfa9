import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { listSteadyHeaders, longWay } from '../support/lane.ts';
import { startService, type TestService } from '../support/service.ts';

/** As shipped: requests are not logged one by one, so that the lane is open. */
const shipped = { LOG_REQUESTS: 'errors' };

async function addAnimals(service: TestService, key: string, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    const response = await service.post(key, { name: `Animal ${number}`, categoryId: number });
    assert.equal(response.status, 201);
  }
}

async function readNames(response: Response): Promise<string[]> {
  return ((await response.json()) as { name: string }[]).map(({ name }) => name);
}

for (const path of ['/pets', '/pets?limit=2', '/pets?status=available', '/pets/1'])
  test(`${path} has the same answer and headers on either way`, async (t) => {
    const service = await startService(t, shipped);
    const key = await service.createKey();
    await addAnimals(service, key, 5);
    await service.request(key, path);
    const short = await service.request(key, path);
    const long = await service.request(key, path, { headers: longWay });
    assert.equal(await short.text(), await long.text());
    assert.deepEqual(listSteadyHeaders(short), listSteadyHeaders(long));
    assert.match(short.headers.get('x-request-id') ?? '', /^req_/);
  });

test('an animal that another process adds is on the next page that is asked for', async (t) => {
  const service = await startService(t, shipped);
  const key = await service.createKey();
  for (let number = 1; number <= 50; number += 1) {
    await service.store.catalogue.add({ name: `Animal ${number}`, categoryId: 1n }, null);
    const [newest] = await readNames(await service.request(key, '/pets'));
    assert.equal(newest, `Animal ${number}`);
  }
});

test('an animal that is changed or taken away in the database is so in the next answer', async (t) => {
  const service = await startService(t, shipped);
  const key = await service.createKey();
  await addAnimals(service, key, 3);
  const second = (await service.request(key, '/pets?limit=1')).headers.get('link') ?? '';
  const rest = /<\/v1(.*)>/.exec(second)?.[1] ?? '';
  for (const path of ['/pets', '/pets/2', rest]) await service.request(key, path);
  const beside = service.openFile();
  beside.exec("update pets set name = 'Changed' where id = 2");
  assert.deepEqual(await readNames(await service.request(key, '/pets')), ['Animal 3', 'Changed', 'Animal 1']);
  assert.match(await (await service.request(key, '/pets/2')).text(), /"Changed"/);
  beside.exec('delete from pets where id = 2');
  assert.equal((await service.request(key, '/pets/2')).status, 404);
  assert.deepEqual(await readNames(await service.request(key, rest)), ['Animal 1']);
});

test('exactly as many requests pass as the plan says, with the headers counting down', async (t) => {
  const service = await startService(t, shipped);
  const key = await service.createKey('free');
  await addAnimals(service, key, 1);
  const responses = await Promise.all(Array.from({ length: 200 }, () => service.request(key, '/pets')));
  const passed = responses.filter(({ status }) => status === 200);
  const remaining = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  assert.deepEqual(
    remaining.sort((a, b) => b - a),
    Array.from({ length: 59 }, (_, index) => 58 - index),
  );
  const refusals = responses.filter(({ status }) => status === 429);
  assert.equal(passed.length + refusals.length, 200);
});

for (const [what, path, isKept] of [
  ['a page', '/pets', true],
  ['a page that is not ready', '/pets?limit=3', false],
  ['an animal that is ready', '/pets/1', true],
  ['an animal that is not ready', '/pets/1', false],
] as const)
  test(`a refused request of ${what} is one strike and no more`, async (t) => {
    const service = await startService(t, shipped);
    const key = await service.createKey('free');
    await addAnimals(service, key, 1);
    const reader = await service.createKey('free');
    for (let number = 0; number < 60; number += 1)
      assert.equal((await service.request(reader, isKept ? path : '/nothing')).status, isKept ? 200 : 404);
    const codes: unknown[] = [];
    for (let number = 0; number < 61; number += 1)
      codes.push(((await (await service.request(reader, path)).json()) as { code: string }).code);
    assert.deepEqual(codes, [...Array(60).fill('rate_limit_exceeded'), 'key_banned']);
  });

test('a key that was revoked, lacks the scope or is none gets no page that is ready', async (t) => {
  const service = await startService(t, shipped);
  const key = await service.createKey();
  const writer = await service.createKey('enterprise', undefined, { scopes: ['pets:write'] });
  await addAnimals(service, key, 1);
  for (let again = 0; again < 2; again += 1) assert.equal((await service.request(key, '/pets')).status, 200);
  assert.equal((await service.request(writer, '/pets')).status, 403);
  assert.equal((await service.request(null, '/pets')).status, 401);
  assert.equal((await service.request(`${key.slice(0, -1)}_`, '/pets')).status, 401);
  const listed = (await service.store.keyring.list()).find(({ visibleStart }) =>
    key.startsWith(visibleStart),
  );
  await service.store.keyring.revoke(listed?.id ?? '');
  service.clock.advance(2_000);
  assert.equal((await service.request(key, '/pets')).status, 401);
});

test('a new window opens on the lane as anywhere', async (t) => {
  const service = await startService(t, shipped);
  const key = await service.createKey('free');
  await addAnimals(service, key, 1);
  for (let number = 0; number < 59; number += 1) await service.request(key, '/pets');
  assert.equal((await service.request(key, '/pets')).status, 429);
  service.clock.advance(minuteMs);
  const response = await service.request(key, '/pets');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('x-ratelimit-remaining'), '59');
});
