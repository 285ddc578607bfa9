import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { int64Max, int64Min } from '../../src/int64.ts';
import type { Catalogue, ListQuery } from '../../src/pets/catalogue.ts';
import { type NewPet, newPetRules, type Pet, petStatuses } from '../../src/pets/pet.ts';
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
        .filter((name) => newPetRules.accepts({ ...rex, name }));
      const some = [...names, ...fc.sample(legalName, 200)];
      assert.deepEqual(await addAndReadNames(catalogue, some), some);
    });
  });

  describe(`listing the catalogue on ${engine.name}`, { skip: engine.skip }, () => {
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
