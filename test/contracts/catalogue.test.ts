import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { int64Max, int64Min } from '../../src/int64.ts';
import type { Catalogue, ListQuery } from '../../src/pets/catalogue.ts';
import { isNewPet, type NewPet, type Pet, petStatuses } from '../../src/pets/pet.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { type Engine, findEngines } from '../support/engines.ts';

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'available' };
const everything: ListQuery = { limit: 100, status: null, newestId: null };

/** Names with every kind of character that the rule allows (contract section 2). */
const names = [
  ' Rex ',
  `'"\`\\$1 %_ ; --`,
  'e\u0301 \u00e9 \ufb01',
  '\u{1f408}\u200d\u2b1b \u{1f1e9}\u{1f1ea}',
  '\u05e9\u05dc\u05d5\u05dd \u202e',
  'x\u0080\u009f\u00a0\u2028\u2029\u3000',
  '\ufeffx\ufffd\uffff\u{10ffff}',
  '\u{1f408}'.repeat(255),
];

/** Contract tests of src/pets/catalogue.ts, except idempotency. */
function describeCatalogue(engine: Engine): void {
  async function open(t: TestContext): Promise<Catalogue> {
    const store = await engine.createStore(t);
    return openCatalogue(await store.open());
  }

  describe(`one animal of the catalogue on ${engine.name}`, { skip: engine.skip }, () => {
    test('an added animal is returned as it was stored', async (t) => {
      const catalogue = await open(t);
      const pet = await catalogue.add(rex);
      assert.deepEqual(pet, { id: pet.id, ...rex });
      assert.deepEqual(await catalogue.get(pet.id), pet);
    });

    test('an animal that is added without a status is available', async (t) => {
      const catalogue = await open(t);
      const pet = await catalogue.add({ name: 'Rex', categoryId: 1n });
      assert.equal(pet.status, 'available');
      assert.equal((await catalogue.get(pet.id))?.status, 'available');
    });

    test('get returns null for an unknown id', async (t) => {
      const catalogue = await open(t);
      const pet = await catalogue.add(rex);
      for (const id of [pet.id + 1n, 0n, -pet.id, int64Min, int64Max])
        assert.equal(await catalogue.get(id), null);
    });

    test('any int64 categoryId is stored exactly', async (t) => {
      const catalogue = await open(t);
      for (const categoryId of [int64Min, -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, int64Max]) {
        const pet = await catalogue.add({ ...rex, categoryId });
        assert.equal((await catalogue.get(pet.id))?.categoryId, categoryId);
        assert.equal((await catalogue.list(everything)).items[0]?.categoryId, categoryId);
      }
    });

    test('any valid name is stored exactly', async (t) => {
      const catalogue = await open(t);
      const legalName = fc
        .oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
        .filter((name) => isNewPet({ ...rex, name }));
      const some = [...names, ...fc.sample(legalName, 200)];
      assert.deepEqual(await addAndReadNames(catalogue, some), some);
    });
  });

  describe(`listing the catalogue on ${engine.name}`, { skip: engine.skip }, () => {
    test('an empty catalogue lists one empty page', async (t) => {
      const catalogue = await open(t);
      assert.deepEqual(await catalogue.list(everything), { items: [], next: null });
    });

    test('animals are listed newest first', async (t) => {
      const catalogue = await open(t);
      const added = await addMany(catalogue, 5);
      assert.deepEqual((await catalogue.list(everything)).items, added.toReversed());
    });

    test('a page has as many animals as its limit, and the next page starts after the last one', async (t) => {
      const catalogue = await open(t);
      const [first, second, third, fourth, fifth] = await addMany(catalogue, 5);
      const page = await catalogue.list({ ...everything, limit: 2 });
      assert.deepEqual(page, { items: [fifth, fourth], next: third?.id });
      const next = await catalogue.list({ ...everything, limit: 2, newestId: page.next });
      assert.deepEqual(next, { items: [third, second], next: first?.id });
      const last = await catalogue.list({ ...everything, limit: 2, newestId: next.next });
      assert.deepEqual(last, { items: [first], next: null });
    });

    test('a full last page has no next page', async (t) => {
      const catalogue = await open(t);
      await addMany(catalogue, 4);
      const page = await catalogue.list({ ...everything, limit: 4 });
      assert.equal(page.items.length, 4);
      assert.equal(page.next, null);
    });

    test('a page from an id below all animals is empty', async (t) => {
      const catalogue = await open(t);
      await addMany(catalogue, 2);
      for (const newestId of [int64Min, 0n])
        assert.deepEqual(await catalogue.list({ ...everything, newestId }), { items: [], next: null });
    });

    for (const status of petStatuses)
      test(`every page of ${status} animals has only ${status} animals, and the pages have all of them`, async (t) => {
        const catalogue = await open(t);
        const added = await addMany(catalogue, 15);
        const expected = added.filter((pet) => pet.status === status).toReversed();
        const pages = await walk(catalogue, { limit: 2, status, newestId: null });
        assert.deepEqual(pages.flat(), expected);
        assert.equal(pages.length, 3);
      });

    test('a walk over all pages returns each animal that existed at its start exactly once, even during adds', async (t) => {
      const store = await engine.createStore(t);
      const catalogue = openCatalogue(await store.open());
      const other = openCatalogue(await store.open());
      const added = await addMany(catalogue, 50);
      const pages = await walk(catalogue, { limit: 7, status: null, newestId: null }, () =>
        addMany(other, 5),
      );
      const met = pages.flat().map(({ id }) => id);
      assert.equal(new Set(met).size, met.length);
      const there = added.map(({ id }) => id);
      assert.deepEqual(
        met.filter((id) => there.includes(id)),
        there.toReversed(),
      );
    });
  });

  describe(`the whole catalogue at once on ${engine.name}`, { skip: engine.skip }, () => {
    test('loaded animals are listed in their order, with the default status', async (t) => {
      const catalogue = await open(t);
      const batches = [
        [rex, { name: 'Tom', categoryId: int64Max }],
        [{ name: 'Kit', categoryId: int64Min, status: 'sold' as const }],
      ];
      assert.deepEqual(await catalogue.load(inTurn(batches)), { added: 3, changed: 0 });
      const { items: pets } = await catalogue.list(everything);
      assert.deepEqual(
        pets.map(({ id, ...pet }) => pet).toReversed(),
        batches.flat().map((pet) => ({ status: 'available', ...pet })),
      );
    });

    test('an aborted load adds nothing', async (t) => {
      const catalogue = await open(t);
      const broken = async function* () {
        yield [rex];
        throw new Error('line 2 is bad');
      };
      await assert.rejects(catalogue.load(broken()), /line 2 is bad/);
      assert.deepEqual((await catalogue.list(everything)).items, []);
    });

    test('a load reports the end of reading, and no animal is visible before', async (t) => {
      const catalogue = await open(t);
      const events: string[] = [];
      const source = async function* () {
        yield [rex];
        events.push(`${(await catalogue.list(everything)).items.length} there`);
      };
      await catalogue.load(source(), { onWrite: () => void events.push('writing') });
      assert.deepEqual(events, ['0 there', 'writing']);
    });

    test('listAll returns every animal, oldest first', async (t) => {
      const catalogue = await open(t);
      const many = Array.from({ length: 2_500 }, (_, index) => ({ ...rex, name: `Rex ${index}` }));
      await catalogue.load(inTurn([many]));
      const exported: Pet[] = [];
      for await (const batch of catalogue.listAll()) exported.push(...batch);
      assert.deepEqual(
        exported.map(({ id, ...pet }) => pet),
        many,
      );
    });
  });
}

/** Adds animals with the three statuses in turn. */
async function addMany(catalogue: Catalogue, count: number): Promise<Pet[]> {
  const added: Pet[] = [];
  for (let index = 0; index < count; index += 1) {
    const status = petStatuses[index % petStatuses.length] ?? 'sold';
    added.push(await catalogue.add({ ...rex, status }));
  }
  return added;
}

async function addAndReadNames(catalogue: Catalogue, wanted: readonly string[]): Promise<string[]> {
  for (const name of wanted) await catalogue.add({ ...rex, name });
  const pages = await walk(catalogue, everything);
  return pages
    .flat()
    .map(({ name }) => name)
    .toReversed();
}

async function walk(
  catalogue: Catalogue,
  query: ListQuery,
  afterPage: () => Promise<unknown> = async () => undefined,
): Promise<(readonly Pet[])[]> {
  const pages: (readonly Pet[])[] = [];
  for (let newestId = query.newestId; ; ) {
    const page = await catalogue.list({ ...query, newestId });
    pages.push(page.items);
    if (page.next === null) return pages;
    newestId = page.next;
    await afterPage();
  }
}

async function* inTurn(batches: readonly NewPet[][]): AsyncGenerator<NewPet[]> {
  yield* batches;
}

for (const engine of await findEngines()) describeCatalogue(engine);
