import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { petStatuses } from '../../../../src/pets/pet.ts';
import { importPets } from '../../../support/catalogue.ts';
import { findEngines } from '../../../support/engines.ts';
import { expectError } from '../../../support/expect-error.ts';
import { startService, startWithKey, type TestService } from '../../../support/service.ts';
import { startOn } from '../../engine-service.ts';

const count = 120;

/** The animals of a filled store, newest first. Each category has animals of every status. */
const all = Array.from({ length: count }, (_, index) => ({
  id: index + 1,
  name: `n${index + 1}`,
  categoryId: (index * 7) % 4,
  status: petStatuses[(index * 5) % 3] ?? 'sold',
})).reverse();

type Shown = (typeof all)[number];

async function fill({ store }: TestService): Promise<void> {
  const pets = all.toReversed().map(({ id, ...pet }) => ({ ...pet, categoryId: BigInt(pet.categoryId) }));
  await importPets(store.database, pets);
}

const engines = await findEngines();
const { service, key } = await startWithKey({ after });
await fill(service);

/** Returns a page and the target of its `rel="next"`, which is null on the last page. */
async function get(path: string, at = service, by = key): Promise<{ pets: Shown[]; next: string | null }> {
  const response = await at.request(by, path);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const link = response.headers.get('link');
  const next = link === null ? null : (/^<\/v1([^<>]+)>; rel="next"$/.exec(link)?.[1] ?? assert.fail(link));
  return { pets: JSON.parse(text), next };
}

const list = async (query: string) => (await get(`/pets?${query}`)).pets;
const idsOf = (pets: readonly Shown[]) => pets.map(({ id }) => id);

async function readCursor(query: string): Promise<string> {
  const { next } = await get(`/pets?${query}`);
  return new URLSearchParams(next?.split('?')[1]).get('cursor') ?? '';
}

async function expectRefused(query: string, name: string): Promise<void> {
  const response = await service.request(key, `/pets?${query}`);
  assert.match(await expectError(response, 400, 'invalid_parameter'), new RegExp(`^${name} must be `), query);
}

test('GET /pets gets 200 with a JSON array of Pets, whose fields are in the documented order', async () => {
  const response = await service.request(key, '/pets?limit=1');
  assert.equal(response.status, 200);
  assert.equal(await response.text(), JSON.stringify(all.slice(0, 1)));
});

test('a page has as many animals as limit says or 20 without a limit', async () => {
  for (const limit of [1, 20, 99, 100]) assert.equal((await list(`limit=${limit}`)).length, limit);
  assert.equal((await list('')).length, 20);
});

const filters = fc.record(
  {
    status: fc.constantFrom(...petStatuses),
    categoryId: fc.integer({ min: 0, max: 4 }),
    id: fc.array(fc.integer({ min: 0, max: count + 2 }), { minLength: 1, maxLength: 100 }),
    limit: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: [] },
);

for (const engine of engines)
  test(`all pages on ${engine.name} together have each matching animal once, newest first`, {
    skip: engine.skip,
  }, async (t) => {
    const { service: at, key: by } = await startOn(t, engine, fill);
    await fc.assert(
      fc.asyncProperty(filters, async ({ limit = 20, ...given }) => {
        const query = new URLSearchParams({ limit: String(limit) });
        for (const [parameter, value] of Object.entries(given)) query.set(parameter, String(value));
        const expected = all.filter(
          (pet) =>
            (given.status === undefined || pet.status === given.status) &&
            (given.categoryId === undefined || pet.categoryId === given.categoryId) &&
            (given.id === undefined || given.id.includes(pet.id)),
        );
        const found: Shown[] = [];
        let pages = 0;
        for (let next: string | null = `/pets?${query}`; next !== null; pages += 1) {
          const page: Awaited<ReturnType<typeof get>> = await get(next, at, by);
          found.push(...page.pets);
          next = page.next;
        }
        assert.deepEqual(found, expected);
        // A full last page has no link.
        assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)));
      }),
      { numRuns: 150 },
    );
  });

const wrongIntegers = ' 1|007|1.0|+1|-0|1e2|abc|9223372036854775808|-9223372036854775809|0x1'.split('|');
const wrong: Readonly<Record<string, readonly string[]>> = {
  limit:
    '0 101 -1 +5 %2B5 05 1.0 1.5 1e1 0x10 abc %205 5%20 5%00 5status=available 2=2 null 9007199254740993 99999999999999999999 %D9%A5 5&limit=500'.split(
      ' ',
    ),
  status: 'Available SOLD lost available,sold %20sold sold&status=pending'.split(' '),
  categoryId: wrongIntegers.map(encodeURIComponent),
  cursor: ['20', '%00', 'AwAAAAAAAAAqrK1CcODeb8rGtA'],
  id: [
    ...wrongIntegers.flatMap((text) => [text, `1,${text}`, `${text},1`].map(encodeURIComponent)),
    '1&id=',
    '&id=1',
  ],
};
for (const [name, values] of Object.entries(wrong))
  for (const value of values)
    test(`?${name}=${value} gets a 400 that names ${name}`, () => expectRefused(`${name}=${value}`, name));

for (const [query, same] of [
  ['limit=2&', 'limit=2'],
  ['limit=%32', 'limit=2'],
  ['l%69mit=2', 'limit=2'],
  ['status=sol%64', 'status=sold'],
  ['limit=2&unknown=1', 'limit=2'],
  ['id=7%2C9', 'id=9,7'],
  ['id=7&id=9', 'id=9,7'],
  ['id=7,9&id=9', 'id=9,7'],
  ['id=7,9,7,9223372036854775807,-9223372036854775808', 'id=9,7'],
] as const)
  test(`?${query} is equivalent to ?${same}`, async () =>
    assert.deepEqual(await list(query), await list(same)));

test('the message names all invalid parameters', async () => {
  const response = await service.request(key, '/pets?limit=0&status=x&cursor=');
  const message = await expectError(response, 400, 'invalid_parameter');
  assert.match(message, /limit .*status .*cursor /);
});

for (const query of ['unknown=1', 'limit[]=5', 'Limit=500', '__proto__=1', 'constructor=1', '', '&&', '=1'])
  test(`?${query} has no known parameter and is ignored`, async () =>
    assert.equal((await list(query)).length, 20));

test('at most 100 ids are accepted', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1);
  assert.deepEqual(idsOf(await list(`limit=100&id=${ids}`)), ids.toReversed());
  await expectRefused(`id=${ids},101`, 'id');
});

test('a cursor is refused with other filters, but accepts the same ids in another order and another limit', async () => {
  const ofStatus = ['&status=sold', '&status=sold&categoryId=1'];
  const lists = ['', '&categoryId=1', '&categoryId=2', ...ofStatus, '&id=1,5,9', '&id=1,5'];
  for (const made of lists) {
    const cursor = await readCursor(`limit=1${made}`);
    for (const used of lists)
      if (used !== made) await expectRefused(`limit=1${used}&cursor=${cursor}`, 'cursor');
    if (made === '&id=1,5,9') assert.deepEqual(idsOf(await list(`id=9,1,5,1&cursor=${cursor}`)), [5, 1]);
  }
});

test('the Link to the next page keeps limit and every filter', async () => {
  for (const [query, kept] of [
    ['id=3,5,1,4,2&limit=1&categoryId=0', 'limit=1&categoryId=0&id=5,4,3,2,1'],
    ['id=3&id=5&id=1&limit=1', 'limit=1&id=5,3,1'],
    ['categoryId=1&status=sold&limit=2', 'limit=2&status=sold&categoryId=1'],
  ] as const)
    assert.match((await get(`/pets?${query}`)).next ?? '', new RegExp(`^/pets\\?${kept}&cursor=[\\w-]{26}$`));
});

test('links and locations begin with PUBLIC_URL if it is set', async (t) => {
  const base = 'https://api.example.com/shop/v1';
  const { service: shown, key: shownKey } = await startWithKey(t, { PUBLIC_URL: base });
  await shown.importPets(2);
  const page = await shown.request(shownKey, '/pets?limit=1');
  assert.ok(page.headers.get('link')?.startsWith(`<${base}/pets?limit=1&cursor=`));
  const added = await shown.post(shownKey, { name: 'Rex', categoryId: 1 });
  assert.equal(added.headers.get('location'), `${base}/pets/3`);
  const got = await shown.request(shownKey, '/pets/1');
  assert.equal(got.headers.get('link'), `<${base}/pets>; rel="successor-version"`);
});

test('another service over the same store accepts a cursor', async (t) => {
  const { service: first, key: reader } = await startWithKey(t);
  await first.importPets(10);
  const { next } = await get('/pets?limit=5', first, reader);
  await first.stop();
  const second = await startService(t, { DATABASE_URL: first.config.databaseUrl });
  assert.deepEqual(idsOf((await get(next ?? '', second, reader)).pets), [5, 4, 3, 2, 1]);
  await second.stop();
});
