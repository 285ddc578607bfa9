import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { int64Max, int64Min } from '../../src/int64.ts';
import { createInventory, foldInventory } from '../../src/inventory/inventory.ts';
import type { Database } from '../../src/storage/database.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { describeOnEngines, openStore, type Store } from '../support/engines.ts';

/** Contract tests of the inventory (contract section 10). */
await describeOnEngines('the inventory', (engine) => {
  async function open(t: TestContext) {
    const { store, database } = await openStore(t, engine);
    return { store, database, catalogue: openCatalogue(database) };
  }

  /** Compares the inventory with the animals in the store, before and after the pending changes are merged. */
  async function expectCounted(store: Store, database: Database): Promise<void> {
    for (const fold of [async () => undefined, () => foldInventory(database)]) {
      await fold();
      for (const categoryId of [null, int64Min, 1n, 2n, int64Max]) {
        const { asOfMs, ...counts } = await createInventory(database)(categoryId);
        assert.ok(Number.isSafeInteger(asOfMs));
        assert.deepEqual(counts, await countPets(store, categoryId));
      }
    }
  }

  async function countPets(store: Store, categoryId: bigint | null) {
    const where = categoryId === null ? '' : `where category_id = ${categoryId}`;
    const sql = `select status, cast(count(*) as text) as count from pets ${where} group by status`;
    const rows = await store.execute<{ status: string; count: string }>(sql);
    const count = (status: string) => BigInt(rows.find((row) => row.status === status)?.count ?? 0);
    return { available: count('available'), pending: count('pending'), sold: count('sold') };
  }

  async function* batches(isBroken: boolean) {
    yield Array.from({ length: 500 }, (_, at) => ({ name: 'Rex', categoryId: BigInt(at % 3) }));
    if (isBroken) throw new Error('broken');
  }

  test('includes every change and load of animals by any program', async (t) => {
    const { store, database, catalogue } = await open(t);
    await expectCounted(store, database);
    for (const status of ['available', 'available', 'pending', 'sold'] as const)
      for (const categoryId of [1n, 2n, int64Max]) await catalogue.add({ name: 'Rex', categoryId, status });
    await expectCounted(store, database);
    for (const change of [
      "update pets set status = 'sold' where id in (1, 2)",
      'update pets set category_id = 1 where id = 3',
      "update pets set category_id = 2, status = 'pending' where id = 4",
      "update pets set name = 'Max'",
      'delete from pets where id in (5, 6)',
      `update pets set category_id = ${int64Min}`,
    ]) {
      await store.execute(change);
      await expectCounted(store, database);
    }
    await catalogue.load(batches(false));
    await expectCounted(store, database);
  });

  test('includes no animal of a failed load', async (t) => {
    const { store, database, catalogue } = await open(t);
    await assert.rejects(catalogue.load(batches(true)));
    await expectCounted(store, database);
  });

  test('is exact after concurrent writes and merges of pending changes', async (t) => {
    const { store, database, catalogue } = await open(t);
    const other = await store.open();
    const add = (_: unknown, at: number) => catalogue.add({ name: 'Rex', categoryId: BigInt(at % 2) });
    const adds = Array.from({ length: 60 }, add);
    const folds = [database, other, database, other].map((one) => foldInventory(one));
    await Promise.all([...adds, ...folds]);
    await expectCounted(store, database);
  });
});
