import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Scope, scopes } from '../../../../src/accounts/account.ts';
import { expectError } from '../../../support/expect-error.ts';
import { untilWaiting } from '../../../support/instances.ts';
import { formatHeads, openRaw } from '../../../support/raw-http.ts';
import { nextOf, startWithKey } from '../../../support/service.ts';

const { service, key: partner } = await startWithKey({ after });
const manager = await service.createKey('enterprise', undefined, { scopes });

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: number; readonly account?: string };
}

const ask = (path: string, key = partner) => service.request(key, path);

async function read(path: string, key = partner): Promise<{ events: Shown[]; next: string }> {
  const response = await ask(path, key);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { events: JSON.parse(text), next: nextOf(response) ?? assert.fail() };
}

const readEnd = async (key = partner) => (await read('/events?after=now', key)).next;
const addPet = async () =>
  assert.equal((await service.post(partner, { name: 'Rex', categoryId: 1 })).status, 201);
const placeOrder = (body: object) => service.send(partner, 'POST /orders', body);

test('the links of the feed lead through all events and keep limit and wait', async () => {
  const start = await readEnd();
  for (let count = 0; count < 5; count += 1) await addPet();
  const met: string[] = [];
  for (let path = `${start.replace('limit=20', 'limit=2')}&wait=0`; ; ) {
    const { events, next } = await read(path);
    if (events.length === 0) break;
    met.push(...events.map(({ id }) => id));
    assert.match(next, /^\/events\?after=evt_[0-9A-Za-z]{16}&limit=2&wait=0$/);
    path = next;
  }
  assert.equal(new Set(met).size, 5);
  const [first = '', second] = met;
  const [only] = (await read(`/events?after=${first}&limit=1`)).events;
  assert.equal(only?.id, second);
});

test('every invalid value of a parameter gets a 400 that names the parameter', async () => {
  const { events } = await read('/events?limit=1');
  const id = events[0]?.id ?? '';
  const flipped = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
  const spoilt = [id.toUpperCase(), ` ${id}`, `${id}0`, id.slice(0, -1), flipped, `${id}&after=${id}`];
  const wrong: Record<string, readonly string[]> = {
    after: ['', 'NOW', 'evt_', '1', 'evt_0000000000000000', ...spoilt],
    limit: ['', '0', '101', '-1', '1.0', '01', '1e1', 'ten', ' 1'],
    wait: ['', '-1', '21', '1.5', '01', '1s', 'x'],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const message = await expectError(await ask(`/events?${name}=${value}`), 400, 'invalid_parameter');
      assert.match(message, new RegExp(`^${name} must `), `${name}=${value}`);
    }
});

const keyWith = (...some: Scope[]) => service.createKey('pro', undefined, { scopes: some });

test('a key without a scope for events is refused', async () => {
  for (const scope of scopes) {
    const response = await ask('/events', await keyWith(scope));
    if (['pets:read', 'orders:read', 'orders:manage'].includes(scope)) assert.equal(response.status, 200);
    else assert.match(await expectError(response, 403, 'scope_missing'), / pets:read or orders:read$/);
  }
});

test('a key sees only the events of its scopes', async () => {
  const start = await readEnd();
  await addPet();
  const { events } = await read(start);
  const placed = await placeOrder({ petId: events[0]?.data.id });
  assert.equal(placed.status, 201);
  const typesFor = async (key: string) => (await read(start, key)).events.map(({ type }) => type);
  assert.deepEqual(await typesFor(partner), ['pet.added', 'pet.updated', 'order.reserved']);
  assert.deepEqual(await typesFor(await keyWith('pets:read')), ['pet.added', 'pet.updated']);
  assert.deepEqual(await typesFor(await keyWith('orders:read')), []);
  assert.deepEqual(await typesFor(await keyWith('orders:manage')), ['order.reserved']);
  const accountOf = async (key: string) => (await read(start, key)).events.at(-1)?.data.account;
  assert.match((await accountOf(manager)) ?? '', /^account-/);
  assert.equal(await accountOf(partner), undefined);
});

test('the data of an event is byte for byte the object that the operation returned', async () => {
  const start = await readEnd(manager);
  await addPet();
  const [{ data } = assert.fail()] = (await read(start, manager)).events;
  const placed = await (await placeOrder({ petId: data.id, reference: 'A-1' })).text();
  const text = await (await ask(start)).text();
  assert.ok(text.includes(`"data":${placed}}`), text);
  const pet = await (await ask(`/pets/${data.id}`)).text();
  assert.ok(text.includes(`"data":${pet},"previous":{"status":"available"}`), text);
});

test('a request that waits for events is answered when another process makes a change', async () => {
  const start = await readEnd();
  const waiting = read(`${start}&wait=20`);
  await untilWaiting(service.app, 1);
  await service.importPets(1);
  const types = (await waiting).events.map(({ type }) => type);
  assert.deepEqual(types, ['pet.added']);
  await untilWaiting(service.app, 0);
});

test('a request that waits in vain gets an empty page with the rate limit of that moment', async () => {
  const response = await ask('/events?after=now&wait=1', await service.createKey());
  assert.equal(await response.text(), '[]');
  assert.equal(nextOf(response), `${await readEnd()}&wait=1`);
  const [, seconds] = /^"minute";r=999999;t=(\d+),/.exec(response.headers.get('ratelimit') ?? '') ?? [];
  assert.ok(Number(seconds) <= 59, `t=${seconds} after a second`);
  assert.doesNotMatch(service.readLog(), /"level":40,.*\/v1\/events/);
});

test('the service ends the wait of a client that disconnects', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  const { get } = formatHeads(partner);
  connection.send(`${get.replace('/pets', `${await readEnd()}&wait=20`)}\r\n`);
  await untilWaiting(service.app, 1);
  connection.end();
  await untilWaiting(service.app, 0);
});

test('a stopping service answers waiting requests', async (t) => {
  const { service: ending, key } = await startWithKey(t);
  const waiting = ending.request(key, '/events?wait=20');
  await untilWaiting(ending.app, 1);
  await ending.stop();
  const response = await waiting;
  assert.deepEqual([response.status, await response.text()], [200, '[]']);
});

describe('a list of some types', () => {
  test('passes over the other events', async () => {
    const start = await readEnd();
    for (let count = 0; count < 3; count += 1) await addPet();
    const { events } = await read(`${start}&type=pet.deleted`);
    assert.deepEqual(events, []);
    const [added] = (await read(start)).events;
    assert.equal((await placeOrder({ petId: added?.data.id })).status, 201);
    const wanted = await read(`${start}&type=order.reserved,pet.updated,pet.updated`);
    assert.deepEqual(
      wanted.events.map(({ type }) => type),
      ['pet.updated', 'order.reserved'],
    );
  });

  test('has links that keep the types and move past the other events', async () => {
    const start = await readEnd();
    await addPet();
    const { next } = await read(`${start}&type=pet.deleted,order.expired`);
    const end = await readEnd();
    assert.equal(next, end.replace('&limit=20', '&limit=20&type=pet.deleted,order.expired'));
  });

  test('has each event of a type once over its pages', async () => {
    const start = await readEnd();
    for (let count = 0; count < 5; count += 1) await addPet();
    const [{ data } = assert.fail()] = (await read(start)).events;
    assert.equal((await placeOrder({ petId: data.id })).status, 201);
    for (let count = 0; count < 2; count += 1) await addPet();
    const met: string[] = [];
    for (let path = `${start.replace('limit=20', 'limit=3')}&type=pet.added`; ; ) {
      const { events, next } = await read(path);
      if (events.length === 0) break;
      met.push(...events.map(({ id }) => id));
      path = next;
    }
    assert.equal(new Set(met).size, 7);
    assert.equal(met.length, 7);
  });

  test('waits for an event of its types', async () => {
    const start = await readEnd();
    const waiting = read(`${start}&type=order.reserved&wait=20`);
    await untilWaiting(service.app, 1);
    await addPet();
    const [{ data } = assert.fail()] = (await read(`${start}&wait=20`)).events;
    assert.equal((await placeOrder({ petId: data.id })).status, 201);
    assert.deepEqual(
      (await waiting).events.map(({ type }) => type),
      ['order.reserved'],
    );
  });

  test('refuses an unknown type', async () => {
    for (const type of [
      '',
      'pet',
      'pet.added,',
      'PET.ADDED',
      'pet.added,pet.eaten',
      'pet.added&type=pet.added',
    ])
      assert.match(
        await expectError(await ask(`/events?type=${type}`), 400, 'invalid_parameter'),
        /^type must be (?:given once|a list of at least one of pet\.added, .*)$/,
      );
  });

  test('refuses a type that the key may not read', async () => {
    const response = await ask('/events?type=pet.added,order.expired', await keyWith('pets:read'));
    const message = await expectError(response, 403, 'scope_missing');
    assert.equal(message, 'type: this API key may not read order.expired');
    assert.equal((await ask('/events?type=order.expired', await keyWith('orders:read'))).status, 200);
  });
});
