import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { scopes } from '../../../../src/accounts/account.ts';
import { type PetStatus, petStatuses } from '../../../../src/pets/pet.ts';
import { findPostgres } from '../../../support/engines.ts';
import { expectError } from '../../../support/expect-error.ts';
import { startService, type TestService } from '../../../support/service.ts';

interface Shown {
  readonly id: number;
  readonly categoryId: number;
  readonly status: PetStatus;
}

const count = 60;
const postgres = await findPostgres();

async function fill(service: TestService): Promise<Shown[]> {
  const pets = Array.from({ length: count }, (_, index) => ({
    name: 'Rex',
    categoryId: BigInt((index * 7) % 4),
    status: petStatuses[(index * 5) % 3] ?? 'sold',
  }));
  async function* batches() {
    yield pets;
  }
  await service.store.catalogue.load(batches());
  return pets
    .map(({ categoryId, status }, index) => ({ id: index + 1, categoryId: Number(categoryId), status }))
    .reverse();
}

const service = await startService({ after });
const key = await service.createKey('enterprise', undefined, { scopes });
const all = await fill(service);

async function get(path: string, at = service, by = key): Promise<{ pets: Shown[]; next: string | null }> {
  const response = await at.request(by, path);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const next = /<\/v1([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
  return { pets: JSON.parse(text), next };
}

async function walk(path: string, limit: number, at = service, by = key): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | null = path; next !== null; ) {
    const page = await get(next, at, by);
    assert.ok(page.pets.length <= limit && (page.next === null || page.pets.length === limit));
    ids.push(...page.pets.map(({ id }) => id));
    next = page.next;
  }
  return ids;
}

const filters = fc.record(
  {
    status: fc.constantFrom(...petStatuses),
    categoryId: fc.integer({ min: 0, max: 4 }),
    id: fc.array(fc.integer({ min: 0, max: count + 2 }), { minLength: 1, maxLength: 100 }),
    limit: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: [] },
);

const engines = [
  { name: 'SQLite', skip: false as const, start: async (_: TestContext) => ({ at: service, by: key }) },
  {
    name: 'PostgreSQL',
    skip: postgres.skip,
    start: async (t: TestContext) => {
      let at: TestService | undefined;
      t.after(() => at?.stop());
      const { url } = await postgres.createStore(t);
      at = await startService(t, { DATABASE_URL: url });
      await fill(at);
      return { at, by: await at.createKey() };
    },
  },
];
for (const { name, skip, start } of engines)
  test(`all pages on ${name} together have exactly the animals that match every filter, each once, newest first`, {
    skip,
  }, async (t) => {
    const { at, by } = await start(t);
    await fc.assert(
      fc.asyncProperty(filters, async ({ limit, ...given }) => {
        const query = new URLSearchParams();
        for (const [parameter, value] of Object.entries({ limit, ...given }))
          if (value !== undefined) query.set(parameter, String(value));
        const expected = all.filter(
          (pet) =>
            (given.status === undefined || pet.status === given.status) &&
            (given.categoryId === undefined || pet.categoryId === given.categoryId) &&
            (given.id === undefined || given.id.includes(pet.id)),
        );
        const ids = await walk(`/pets?${query}`, limit ?? 20, at, by);
        assert.deepEqual(
          ids,
          expected.map(({ id }) => id),
        );
      }),
      { numRuns: 150 },
    );
  });

const wrong = ['', ' 1', ...'007 1.0 +1 -0 1e2 abc 9223372036854775808 -9223372036854775809 0x1'.split(' ')];
for (const value of wrong)
  test(`the filters id and categoryId get 400 for ${JSON.stringify(value)}`, async () => {
    for (const [name, text] of [
      ['categoryId', value],
      ['id', value],
      ['id', `1,${value}`],
      ['id', `${value},1`],
    ] as const) {
      const response = await service.request(key, `/pets?${new URLSearchParams({ [name]: text })}`);
      assert.match(await expectError(response, 400, 'invalid_parameter'), new RegExp(`^${name} must be`));
    }
  });

test('1 to 100 ids are accepted, and a repeated id is listed once', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1);
  assert.equal((await walk(`/pets?limit=100&id=${ids}`, 100)).length, count);
  await expectError(await service.request(key, `/pets?id=${ids},101`), 400, 'invalid_parameter');
  assert.deepEqual(await walk('/pets?id=7,9,7,9223372036854775807,-9223372036854775808', 20), [9, 7]);
  assert.deepEqual(await walk('/pets?id=7%2C9', 20), [9, 7]);
});

test('the filter categoryId accepts any int64 exactly', async () => {
  for (const categoryId of ['9223372036854775807', '-9223372036854775808', '9007199254740993']) {
    const added = await service.post(key, `{"name":"Rex","categoryId":${categoryId}}`);
    const text = await added.text();
    const response = await service.request(key, `/pets?categoryId=${categoryId}`);
    assert.equal(await response.text(), `[${text}]`);
    await service.request(key, (added.headers.get('location') ?? '').replace('/v1', ''), {
      method: 'DELETE',
    });
  }
});

test('a cursor is refused with other filters, but accepts the same ids in another order', async () => {
  const lists = [
    '',
    '&categoryId=1',
    '&categoryId=2',
    '&status=sold',
    '&status=sold&categoryId=1',
    '&id=1,5,9',
    '&id=1,5',
  ];
  for (const made of lists) {
    const { next } = await get(`/pets?limit=1${made}`);
    const cursor = new URLSearchParams(next?.split('?')[1]).get('cursor');
    for (const used of lists)
      if (used !== made) {
        const response = await service.request(key, `/pets?limit=1${used}&cursor=${cursor}`);
        assert.match(await expectError(response, 400, 'invalid_parameter'), /^cursor/, made + used);
      }
    if (made === '&id=1,5,9')
      assert.deepEqual(
        (await get(`/pets?id=9,1,5,1&cursor=${cursor}`)).pets.map(({ id }) => id),
        [5, 1],
      );
  }
});

test('the Link to the next page keeps limit and every filter', async () => {
  const { next } = await get('/pets?id=3,5,1,4,2&limit=1&categoryId=0');
  assert.match(next ?? '', /^\/pets\?limit=1&categoryId=0&id=5,4,3,2,1&cursor=[\w-]{26}$/);
  const link = (await get('/pets?id=3,5,1,4&limit=2')).next ?? '';
  assert.match(link, /^\/pets\?limit=2&id=5,4,3,1&cursor=[\w-]{26}$/);
  const both = (await get('/pets?categoryId=1&status=sold&limit=2')).next ?? '';
  assert.match(both, /^\/pets\?limit=2&status=sold&categoryId=1&cursor=[\w-]{26}$/);
});
