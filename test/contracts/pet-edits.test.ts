import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { computeEtag } from '../../src/etag.ts';
import { parseExactJson } from '../../src/exact-json.ts';
import {
  examplePet,
  type NewPet,
  type Pet,
  type PetPatch,
  petStatuses,
  removablePetFields,
} from '../../src/pets/pet.ts';
import { writePet } from '../../src/pets/pet-values.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { describeOnEngines } from '../support/engines.ts';
import { countStatuses } from '../support/expect-error.ts';
import { openShop } from './order-shop.ts';

const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

function tagOf(pet: Pet): string {
  return computeEtag(writePet(pet));
}

/** Contract tests of the edits in src/pets/catalogue.ts. */
await describeOnEngines('the edits of the catalogue', (engine) => {
  /** Adds an available animal. */
  async function prepare(t: TestContext) {
    const shop = await openShop(t, engine);
    const catalogue = openCatalogue(shop.database);
    const pet = await catalogue.add(rex);
    await shop.takeEvents();
    return { ...shop, catalogue, pet };
  }

  /** Adds an animal that a reserved order owns. */
  async function prepareOwned(t: TestContext) {
    const { pet: available, ...shop } = await prepare(t);
    const buyer = await shop.addBuyer();
    const order = await shop.place(buyer, available.id);
    await shop.takeEvents();
    const readOrder = () => shop.orders.get(order.id, buyer);
    return { ...shop, available, held: { ...available, status: 'pending' } as const, readOrder };
  }

  const patches: readonly Partial<NewPet>[] = [
    { name: 'Bello' },
    { name: 'e\u0301 "\\\u2028\u{1f408}' },
    { categoryId: -(2n ** 63n) },
    { status: 'sold' },
    { name: 'a', categoryId: 2n ** 63n - 1n, status: 'pending' },
  ];
  test('a change affects only the given fields and has one event', async (t) => {
    const { catalogue, pet, takeEvents } = await prepare(t);
    let expected = pet;
    for (const patch of patches) {
      expected = { ...expected, ...patch };
      assert.deepEqual(await catalogue.change(pet.id, patch, null), expected);
      assert.deepEqual(await catalogue.get(pet.id), expected);
    }
    assert.equal((await takeEvents()).length, patches.length);
  });

  for (const field of removablePetFields)
    test(`null removes ${field}`, async (t) => {
      const { catalogue, pet, takeEvents } = await prepare(t);
      const { [field]: value } = parseExactJson(JSON.stringify(examplePet)) as Pet;
      const change = (patch: PetPatch) => catalogue.change(pet.id, patch, null);
      assert.deepEqual(await change({ [field]: value } as PetPatch), { ...pet, [field]: value });
      for (let again = 0; again < 2; again += 1) {
        assert.deepEqual(await change({ [field]: null } as PetPatch), pet);
        assert.deepEqual(await catalogue.get(pet.id), pet);
      }
      assert.deepEqual(await takeEvents(), Array(2).fill('pet.updated available'));
    });

  test('any status may change to any other status if no order owns the animal', async (t) => {
    const { catalogue, pet } = await prepare(t);
    for (const from of petStatuses)
      for (const to of petStatuses) {
        await catalogue.change(pet.id, { status: from }, null);
        assert.equal((await catalogue.change(pet.id, { status: to }, null)).status, to);
      }
  });

  test('a change without effect returns the animal and has no event', async (t) => {
    const { catalogue, pet, takeEvents } = await prepare(t);
    for (const patch of [{}, { ...rex }, { status: 'available' }] as const)
      for (const tags of [null, [tagOf(pet)]])
        assert.deepEqual(await catalogue.change(pet.id, patch, tags), pet);
    assert.deepEqual(await takeEvents(), []);
  });

  test('exactly one of several concurrent changes with the same ETag succeeds', async (t) => {
    const { catalogue, pet, takeEvents } = await prepare(t);
    const change = (_: unknown, n: number) => catalogue.change(pet.id, { name: `n${n}` }, [tagOf(pet)]);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, change));
    const codes = outcomes.map((one) => (one.status === 'rejected' ? one.reason.code : one.status));
    assert.deepEqual(countStatuses(codes), { fulfilled: 1, precondition_failed: 19 });
    assert.equal((await takeEvents()).length, 1);
  });

  test('exactly one of several concurrent deletions of an animal succeeds with one event', async (t) => {
    const { catalogue, pet, takeEvents } = await prepare(t);
    const remove = () => catalogue.remove(pet.id, null);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, remove));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await catalogue.get(pet.id), null);
    await assert.rejects(catalogue.remove(pet.id, null), { code: 'not_found' });
    assert.deepEqual(await takeEvents(), ['pet.deleted available']);
  });

  test('the id of a deleted animal is never reused', async (t) => {
    const { catalogue, pet } = await prepare(t);
    await catalogue.remove(pet.id, null);
    assert.equal((await catalogue.add(rex)).id, pet.id + 1n);
  });

  test('an owned animal can neither change its status nor be deleted', async (t) => {
    const { catalogue, held, takeEvents } = await prepareOwned(t);
    const { id } = held;
    const owned = { ...held, name: 'a', categoryId: 9n };
    assert.deepEqual(await catalogue.change(id, { name: 'a', categoryId: 9n }, null), owned);
    for (const tags of [null, [tagOf(owned)]]) {
      assert.deepEqual(await catalogue.change(id, { status: 'pending' }, tags), owned);
      for (const status of ['available', 'sold'] as const)
        await assert.rejects(catalogue.change(id, { name: 'b', status }, tags), { code: 'pet_in_order' });
      await assert.rejects(catalogue.remove(id, tags), { code: 'pet_in_order' });
    }
    await assert.rejects(catalogue.remove(id, ['"stale"']), { code: 'precondition_failed' });
    assert.deepEqual(await catalogue.get(id), owned);
    assert.deepEqual(await takeEvents(), ['pet.updated pending']);
  });

  const closing = ['pet.updated available', 'order.expired expired'];

  for (const [what, patch, event] of [
    ['its status is changed', { status: 'sold' }, 'pet.updated sold'],
    ['only its name is changed', { name: 'b' }, 'pet.updated available'],
    ['it is deleted', null, 'pet.deleted available'],
  ] as const)
    test(`an overdue hold of an animal is first closed if ${what}`, async (t) => {
      const { catalogue, available, endHolds, takeEvents, readOrder } = await prepareOwned(t);
      await endHolds();
      const [{ id }, tags] = [available, [tagOf(available)]];
      if (patch === null) await catalogue.remove(id, tags);
      else assert.deepEqual(await catalogue.change(id, patch, tags), { ...available, ...patch });
      assert.deepEqual(await takeEvents(), [...closing, event]);
      const { closedAt, expiresAt } = await readOrder();
      assert.equal(closedAt, expiresAt);
    });

  test('an overdue hold is closed before its animal is compared with an ETag', async (t) => {
    const { catalogue, held, endHolds, takeEvents } = await prepareOwned(t);
    await endHolds();
    const change = catalogue.change(held.id, { name: 'b' }, [tagOf(held)]);
    await assert.rejects(change, { code: 'precondition_failed' });
    assert.deepEqual(await takeEvents(), closing);
    assert.equal((await catalogue.get(held.id))?.status, 'available');
  });
});
