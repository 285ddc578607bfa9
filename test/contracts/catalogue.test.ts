import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { int64Max, int64Min } from '../../src/int64.ts';
import { type NewPet, newPetRules, type Pet } from '../../src/pets/pet.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { describeOnEngines } from '../support/engines.ts';

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'available' };

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
const legalNames = fc
  .oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
  .filter((name) => newPetRules.accepts({ ...rex, name }));

/** Contract tests of src/pets/catalogue.ts, except idempotency. `list-pets.test.ts` walks all pages on both engines. */
await describeOnEngines('the catalogue', (engine) => {
  test('any valid name and any int64 categoryId is returned and stored exactly', async (t) => {
    const catalogue = openCatalogue(await (await engine.createStore(t)).open());
    const named = [...names, ...fc.sample(legalNames, 200)].map((name) => ({ ...rex, name }));
    const ids = [int64Min, -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, int64Max];
    for (const newPet of [...named, ...ids.map((categoryId) => ({ ...rex, categoryId }))]) {
      const pet = await catalogue.add(newPet);
      assert.deepEqual(pet, { id: pet.id, ...newPet });
      assert.deepEqual(await catalogue.get(pet.id), pet);
      const page = await catalogue.list({ limit: 1, status: null, newestId: null });
      assert.deepEqual(page.items, [pet]);
    }
  });

  test('a walk over all pages returns each animal that existed at its start exactly once, even during adds', async (t) => {
    const store = await engine.createStore(t);
    const catalogue = openCatalogue(await store.open());
    const other = openCatalogue(await store.open());
    const there: bigint[] = [];
    for (let n = 0; n < 50; n += 1) there.push((await catalogue.add(rex)).id);
    const met: bigint[] = [];
    for (let newestId: bigint | null = null; ; ) {
      const page = await catalogue.list({ limit: 7, status: null, newestId });
      met.push(...page.items.map(({ id }: Pet) => id));
      newestId = page.next;
      if (newestId === null) break;
      await other.add(rex);
    }
    assert.deepEqual(met, there.toReversed());
  });

  test('loaded animals are listed in their order, with the default status', async (t) => {
    const catalogue = openCatalogue(await (await engine.createStore(t)).open());
    const many = Array.from({ length: 2_500 }, (_, index) => ({ ...rex, name: `Rex ${index}` }));
    const last: NewPet[] = [
      { name: 'Tom', categoryId: int64Max },
      { name: 'Kit', categoryId: int64Min, status: 'sold' },
    ];
    async function* batches() {
      yield* [many, last];
    }
    assert.deepEqual(await catalogue.load(batches()), { added: 2_502, changed: 0 });
    const listed = (await Array.fromAsync(catalogue.listAll())).flat();
    const shown = listed.map(({ id, ...pet }) => pet);
    const expected = [...many, ...last].map((pet) => ({ status: 'available', ...pet }));
    assert.deepEqual(shown, expected);
  });
});
