import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { createKeyring } from '../../src/accounts/keyring.ts';
import { createFirstAnswers } from '../../src/idempotency/answer-once.ts';
import { type HitKind, hitsMax, search } from '../../src/operator/search.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { openShop } from './order-shop.ts';

const nowMs = Date.UTC(2027, 0, 2);
const clock = () => nowMs;

/** Opens a store with two accounts, a named key, three animals and an order. */
async function openStore(t: TestContext, engine: Engine) {
  const shop = await openShop(t, engine);
  const { database, store, orders } = shop;
  const rooms = {
    database,
    orders,
    accounts: createAccounts(database, clock),
    keyring: createKeyring(database, clock, 'stg'),
    catalogue: createCatalogue(database, createFirstAnswers(database)),
  };
  const plan = { name: 'pro', limits: { perMinute: 1, perDay: 1 } } as const;
  await rooms.accounts.create('Happy Paws', plan);
  await rooms.accounts.create('happy pets', plan);
  const order = { account: 'Happy Paws', plan: null, name: 'Warehouse', scopes: null, lifetimeMs: null };
  const key = await rooms.keyring.issue(order);
  for (const name of ['Rex', 'rexona', 'Max']) await rooms.catalogue.add({ name, categoryId: 1n });
  await store.execute(`insert into requests
      (at_ms, last_at_ms, account_id, status, code, request_id, duration_ms, times)
    values (1, 1, 1, 404, 'not_found', 'req-1', 1, 1)`);
  const find = async (text: string) => (await search(rooms, text)).items;
  const list = async (text: string) =>
    (await find(text)).map(({ kind, id }): [HitKind, string] => [kind, id]);
  return { ...shop, rooms, key, find, list };
}

await describeOnEngines('search', (engine) => {
  test('an account is found by the start of its name in any case', async (t) => {
    const { list } = await openStore(t, engine);
    assert.deepEqual(await list('HAPPY P'), [
      ['account', 'Happy Paws'],
      ['account', 'happy pets'],
    ]);
  });

  test('a key is found by its id, its name and its shown text', async (t) => {
    const { list, key } = await openStore(t, engine);
    for (const text of [key.id, 'ware', key.key.slice(0, 11), `${key.key.slice(0, 11)}…`])
      assert.deepEqual(await list(text), [['key', key.id]], text);
  });

  test('of a whole key, only its shown start counts', async (t) => {
    const { list, key } = await openStore(t, engine);
    const other = `${key.key.slice(0, 11)}${'0'.repeat(24)}`;
    assert.deepEqual(await list(other), [['key', key.id]]);
  });

  test('an animal is found by the start of its name in any case', async (t) => {
    const { find } = await openStore(t, engine);
    const found = (await find('REX')).map(({ kind, label, isExact }) => [kind, label, isExact]);
    assert.deepEqual(found, [
      ['animal', 'rexona', false],
      ['animal', 'Rex', true],
    ]);
  });

  test('a number finds the animal and the order with this id', async (t) => {
    const { list, addBuyer, place } = await openStore(t, engine);
    await place(await addBuyer(), 1n);
    assert.deepEqual(await list('1'), [
      ['animal', '1'],
      ['order', '1'],
    ]);
  });

  test('a request is found by its request id', async (t) => {
    const { find } = await openStore(t, engine);
    const hit = { kind: 'request', id: 'req-1', label: null, account: 'Happy Paws', state: 'not_found' };
    assert.deepEqual(await find('req-1'), [{ ...hit, isExact: true }]);
  });

  test('a text that nothing has finds nothing', async (t) => {
    const { list } = await openStore(t, engine);
    for (const text of [
      'nothing',
      '99',
      '9223372036854775808',
      'wh_0000000000000000',
      ' ',
      "'",
      '%',
      '\u{10ffff}',
    ])
      assert.deepEqual(await list(text), [], text);
  });

  test('a search says of which kinds there are more hits than it shows', async (t) => {
    const { rooms } = await openStore(t, engine);
    for (let n = 0; n <= hitsMax; n += 1) await rooms.catalogue.add({ name: `Bo ${n}`, categoryId: 1n });
    const { items, more } = await search(rooms, 'bo');
    assert.deepEqual([items.length, more], [hitsMax, ['animal']]);
  });
});
