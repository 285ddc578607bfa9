import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import { computeEtag } from '../../src/etag.ts';
import type { Pet, PetPatch } from '../../src/pets/pet.ts';
import { petStatuses, writePet } from '../../src/pets/pet.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { type Engine, findEngines, type Store } from '../support/engines.ts';
import { listEvents } from './order-shop.ts';

const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const;

function tagOf(pet: Pet): string {
  return computeEtag(writePet(pet));
}

async function refuses(act: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(act, (error) => error instanceof AppError && error.code === code);
}

/** Adds an animal and a reserved order for it. Returns a function that lists the later events as `type status`. */
async function reserve(store: Store, expiresAtMs: number): Promise<() => Promise<string[]>> {
  await store.execute(`insert into accounts (name, plan, created_at_ms) values ('a', 'free', 0)`);
  await store.execute(
    `insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'pending', 1)`,
  );
  await store.execute(
    `insert into orders (account_id, pet_id, status, created_at_ms, expires_at_ms)
      values (1, 1, 'reserved', 0, ${expiresAtMs})`,
  );
  const list = () => listEvents(store);
  const before = (await list()).length;
  return async () => (await list()).slice(before);
}

/** Contract tests of src/pets/pet-edits.ts. */
function describePetEdits(engine: Engine): void {
  async function prepare(t: TestContext) {
    const store = await engine.createStore(t);
    const catalogue = openCatalogue(await store.open());
    const newEvents = async (before: number) => (await listEvents(store)).slice(before);
    return { store, catalogue, newEvents };
  }

  /** Adds an animal that a reserved order owns until `expiresAtMs`. */
  async function prepareOwned(t: TestContext, expiresAtMs: number) {
    const { store, catalogue } = await prepare(t);
    const newEvents = await reserve(store, expiresAtMs);
    return { store, catalogue, newEvents };
  }

  const later = () => Date.now() + 3_600_000;

  describe(`changing an animal on ${engine.name}`, { skip: engine.skip }, () => {
    const patches: readonly PetPatch[] = [
      { name: 'Bello' },
      { name: 'e\u0301 "\\\u2028\u{1f408}' },
      { categoryId: -(2n ** 63n) },
      { status: 'sold' },
      { name: 'a', categoryId: 2n ** 63n - 1n, status: 'pending' },
    ];
    test('a change affects only the given fields and has one event', async (t) => {
      const { catalogue, newEvents } = await prepare(t);
      const { id } = await catalogue.add(rex);
      let expected: Pet = { id, ...rex };
      for (const patch of patches) {
        expected = { ...expected, ...patch };
        assert.deepEqual(await catalogue.change(id, patch, null), expected);
        assert.deepEqual(await catalogue.get(id), expected);
      }
      assert.equal((await newEvents(1)).length, patches.length);
    });

    test('any status may change to any other status if no order owns the animal', async (t) => {
      const { catalogue } = await prepare(t);
      const { id } = await catalogue.add(rex);
      for (const from of petStatuses)
        for (const to of petStatuses) {
          await catalogue.change(id, { status: from }, null);
          assert.equal((await catalogue.change(id, { status: to }, null)).status, to);
        }
    });

    test('a change without effect returns the animal and has no event', async (t) => {
      const { catalogue, newEvents } = await prepare(t);
      const pet = await catalogue.add(rex);
      for (const patch of [{}, { ...rex }, { status: 'available' }] as const)
        for (const tags of [null, [tagOf(pet)]])
          assert.deepEqual(await catalogue.change(pet.id, patch, tags), pet);
      assert.deepEqual(await newEvents(1), []);
    });

    test('exactly one of several concurrent changes with the same ETag succeeds', async (t) => {
      const { catalogue, newEvents } = await prepare(t);
      const pet = await catalogue.add(rex);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => catalogue.change(pet.id, { name: `n${n}` }, [tagOf(pet)])),
      );
      const refused = outcomes.filter(({ status }) => status === 'rejected');
      assert.equal(refused.length, 19);
      for (const { reason } of refused as PromiseRejectedResult[])
        assert.equal((reason as AppError).code, 'precondition_failed');
      assert.equal((await newEvents(1)).length, 1);
    });
  });

  describe(`deleting an animal on ${engine.name}`, { skip: engine.skip }, () => {
    test('a deletion removes the animal with one event, and the id is never reused', async (t) => {
      const { catalogue, newEvents } = await prepare(t);
      const { id } = await catalogue.add(rex);
      await catalogue.remove(id, null);
      assert.equal(await catalogue.get(id), null);
      await refuses(catalogue.remove(id, null), 'not_found');
      assert.deepEqual(await newEvents(1), ['pet.deleted available']);
      assert.equal((await catalogue.add(rex)).id, id + 1n);
    });

    test('exactly one of several concurrent deletions succeeds', async (t) => {
      const { catalogue } = await prepare(t);
      const { id } = await catalogue.add(rex);
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => catalogue.remove(id, null)));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    });
  });

  describe(`an animal that an order owns on ${engine.name}`, { skip: engine.skip }, () => {
    test('can change its name and category, but can neither change its status nor be deleted', async (t) => {
      const { catalogue, newEvents } = await prepareOwned(t, later());
      const owned = { id: 1n, name: 'a', categoryId: 9n, status: 'pending' } as const;
      const change = { name: 'a', categoryId: 9n };
      assert.deepEqual(await catalogue.change(1n, change, null), owned);
      for (const tags of [null, [tagOf(owned)]]) {
        assert.deepEqual(await catalogue.change(1n, { status: 'pending' }, tags), owned);
        for (const status of ['available', 'sold'] as const)
          await refuses(catalogue.change(1n, { name: 'b', status }, tags), 'pet_in_order');
        await refuses(catalogue.remove(1n, tags), 'pet_in_order');
      }
      await refuses(catalogue.remove(1n, ['"stale"']), 'precondition_failed');
      assert.deepEqual(await catalogue.get(1n), owned);
      assert.deepEqual(await newEvents(), ['pet.updated pending']);
    });

    const closing = ['pet.updated available', 'order.expired expired'];

    const freed = { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' } as const;
    for (const [what, patch, event] of [
      ['its status is changed', { status: 'sold' }, 'pet.updated sold'],
      ['only its name is changed', { name: 'b' }, 'pet.updated available'],
      ['it is deleted', null, 'pet.deleted available'],
    ] as const)
      test(`first closes an overdue hold if ${what}`, async (t) => {
        const { store, catalogue, newEvents } = await prepareOwned(t, 1_000);
        const tags = [tagOf(freed)];
        if (patch === null) await catalogue.remove(1n, tags);
        else assert.deepEqual(await catalogue.change(1n, patch, tags), { ...freed, ...patch });
        assert.deepEqual(await newEvents(), [...closing, event]);
        const [order] = await store.execute('select closed_at_ms from orders');
        assert.equal(Number((order as { closed_at_ms: unknown }).closed_at_ms), 1_000);
      });

    test('does not match an ETag from before the end of an overdue hold, and the hold is closed', async (t) => {
      const { catalogue, newEvents } = await prepareOwned(t, 1_000);
      const held = { id: 1n, name: 'Rex', categoryId: 1n, status: 'pending' } as const;
      await refuses(catalogue.change(1n, { name: 'b' }, [tagOf(held)]), 'precondition_failed');
      assert.deepEqual(await newEvents(), closing);
      assert.equal((await catalogue.get(1n))?.status, 'available');
    });
  });
}

for (const engine of await findEngines()) describePetEdits(engine);
