import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import { parseExactJson, stringifyExactJson } from '../../client/src/index.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import type { Ending } from '../support/service.ts';
import { openShop } from './shop.ts';

const { service, apiKey, client } = await openShop({ after });

/** Opens another shop with `count` animals. Returns its address and a client that records the requested URLs. */
async function stock(t: Ending, count: number, settings: Record<string, string> = {}) {
  const { service, baseUrl, connect } = await openShop(t, settings);
  await service.importPets(count);
  const asked: string[] = [];
  const { pets } = connect({
    baseUrl: new URL(`${baseUrl}/`),
    fetch: (url, init) => {
      asked.push(url);
      return fetch(url, init);
    },
  });
  return { pets, asked, baseUrl };
}

for (const categoryId of [int64Max, int64Min, 2n ** 53n + 1n, 0n]) {
  test(`the categoryId ${categoryId} is sent, listed and returned exactly`, async () => {
    const added = await client.pets.create({ name: 'Rex "7"', categoryId });
    const { items } = await client.pets.list({ limit: 1 });
    const expected = { id: added.id, name: 'Rex "7"', categoryId, status: 'available' };
    assert.deepEqual([added, ...items, await client.pets.get(added.id)], [expected, expected, expected]);
  });

  test(`stringifyExactJson writes an animal of the category ${categoryId} as the service sent it`, async () => {
    const added = await client.pets.create({ name: 'Rex "7"', categoryId });
    const sent = await (await service.request(apiKey, `/pets/${added.id}`)).text();
    assert.equal(stringifyExactJson(added), sent);
    assert.deepEqual(parseExactJson(sent), added);
  });
}

test('a result has the request id and the limits in a property that is not enumerable', async () => {
  const pet = await client.pets.create({ name: 'Rex', categoryId: 1 });
  const { status, requestId, rateLimit, replayed, attempts, headers } = pet.response;
  assert.deepEqual([status, replayed, attempts], [201, false, 1]);
  assert.match(requestId ?? '', /^req_/);
  assert.equal(rateLimit?.limit, 1_000_000);
  assert.equal(rateLimit.remaining, Number(headers.get('x-ratelimit-remaining')));
  assert.equal(rateLimit.resetAtSeconds, Number(headers.get('x-ratelimit-reset')));
  assert.ok(headers.get('location')?.endsWith(`/${pet.id}`));
  assert.deepEqual(Object.keys(pet), ['id', 'name', 'categoryId', 'status']);
});

test('each create adds one animal, but all creates with the same idempotency key add only one', async () => {
  const before = await service.countPets();
  const rex = { name: 'Rex', categoryId: 1 };
  const [first, second] = [await client.pets.create(rex), await client.pets.create(rex)];
  assert.notEqual(first.id, second.id);
  const third = await client.pets.create(rex, { idempotencyKey: 'order-1' });
  const again = await client.pets.create(rex, { idempotencyKey: 'order-1' });
  assert.deepEqual([again, again.response.replayed], [third, true]);
  assert.equal(await service.countPets(), before + 3);
});

test('listAll keeps the status filter and requests each page only when it is needed', async (t) => {
  const { pets, asked } = await stock(t, 250);
  const sold = await Array.fromAsync(pets.listAll({ status: 'sold', limit: 50 }));
  assert.deepEqual([sold.length, new Set(sold.map(({ status }) => status)).size], [83, 1]);
  assert.equal(asked.splice(0).length, 2);
  for await (const pet of pets.listAll({ limit: 50 })) if (pet.id === 201n) break;
  assert.equal(asked.length, 1);
});

test('pages are read one by one and resumed with a cursor', async (t) => {
  const { pets } = await stock(t, 5);
  const first = await pets.list({ limit: 2 });
  const second = await first.next();
  const last = await pets.list({ limit: 2, cursor: second?.nextCursor ?? undefined });
  const pages = [first, second, last].map((page) => page?.items.map(({ id }) => id));
  assert.deepEqual(pages, [[5n, 4n], [3n, 2n], [1n]]);
  assert.deepEqual([last.nextCursor, await last.next()], [null, null]);
});

test('pages are requested from the base address even if their links point elsewhere', async (t) => {
  const shop = await stock(t, 5, { PUBLIC_URL: 'https://pets.test/store/v1' });
  assert.equal((await Array.fromAsync(shop.pets.listAll({ limit: 2 }))).length, 5);
  const paths = new Set(shop.asked.map((url) => url.replace(/\?.*/, '')));
  assert.deepEqual([...paths], [`${shop.baseUrl}/pets`]);
});

test('printing a client does not show the key', () => {
  const printed = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client);
  assert.ok(!printed.includes(apiKey));
});
