import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Categories, createCategories } from '../../src/categories/categories.ts';
import { categoriesMax } from '../../src/categories/category.ts';
import type { AppError } from '../../src/errors.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import type { Engine, Store } from '../support/engines.ts';
import { listEvents } from './overdue-holds.ts';

/** What src/categories/categories.ts promises, on any engine. */
export function describeCategories(engine: Engine): void {
  async function prepare(t: TestContext): Promise<{ store: Store; categories: Categories }> {
    const store = await engine.createStore(t);
    return { store, categories: createCategories(await store.open()) };
  }

  async function listIds(categories: Categories, limit: number): Promise<bigint[]> {
    const ids: bigint[] = [];
    let firstId: bigint | null = null;
    do {
      const page: Awaited<ReturnType<Categories['list']>> = await categories.list(limit, firstId);
      ids.push(...page.categories.map(({ id }) => id));
      firstId = page.nextId;
    } while (firstId !== null);
    return ids;
  }

  describe(`the categories on ${engine.name}`, { skip: engine.skip }, () => {
    test('a category is new once, is renamed, and is gone once', async (t) => {
      const { store, categories } = await prepare(t);
      assert.deepEqual(await categories.put({ id: 3n, name: 'Dogs' }), { isNew: true });
      assert.deepEqual(await categories.put({ id: 3n, name: 'D\u00f6gs' }), { isNew: false });
      assert.deepEqual(await categories.put({ id: 3n, name: 'D\u00f6gs' }), { isNew: false });
      assert.deepEqual(
        (await categories.list(5, null)).categories.map((one) => ({ ...one })),
        [{ id: 3n, name: 'D\u00f6gs' }],
      );
      await categories.remove(3n);
      await assert.rejects(categories.remove(3n), { code: 'not_found' });
      const types = (await listEvents(store)).map((event) => event.split(' ')[0]);
      assert.deepEqual(types, ['category.updated', 'category.updated', 'category.deleted']);
    });

    test('they are listed in the order of their ids, any int64, in pages of any length', async (t) => {
      const { categories } = await prepare(t);
      const ids = [int64Min, -5n, 0n, 1n, 2n ** 53n + 1n, int64Max];
      for (const id of ids.toReversed()) await categories.put({ id, name: `c${id}` });
      for (const limit of [1, 2, 5, 6, 100]) assert.deepEqual(await listIds(categories, limit), ids);
    });

    test('at most 10,000 are added, however many are added at once, and names change at the limit too', async (t) => {
      const { store, categories } = await prepare(t);
      const other = createCategories(await store.open());
      await store.execute(
        `with recursive numbers (id) as (select 1 union all select id + 1 from numbers where id < ${categoriesMax - 5n})
          insert into categories select id, 'c' from numbers`,
      );
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? categories : other).put({ id: 20_000n + BigInt(n), name: 'n' }),
        ),
      );
      const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      assert.equal(refused.length, 15);
      for (const { reason } of refused) assert.equal((reason as AppError).code, 'limit_reached');
      assert.deepEqual(await categories.put({ id: 1n, name: 'one' }), { isNew: false });
      await categories.remove(1n);
      assert.deepEqual(await categories.put({ id: -1n, name: 'other' }), { isNew: true });
    });

    test('of many that add one category at once, one adds it', async (t) => {
      const { categories } = await prepare(t);
      const put = await Promise.all(Array.from({ length: 10 }, () => categories.put({ id: 1n, name: 'a' })));
      assert.equal(put.filter(({ isNew }) => isNew).length, 1);
    });
  });
}
