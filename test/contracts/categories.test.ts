import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Actor } from '../../src/audit/audit-log.ts';
import { type Categories, categoriesMax, createCategories } from '../../src/categories/categories.ts';
import { systemClock } from '../../src/clock.ts';
import { describeOnEngines, type Store } from '../support/engines.ts';
import { countStatuses } from '../support/expect-error.ts';
import { listEvents } from './order-shop.ts';

const actor: Actor = { kind: 'key', name: 'key_3kTMd8fZq1LxW0aB' };

/** Contract tests of src/categories/categories.ts. */
await describeOnEngines('the categories', (engine) => {
  async function prepare(t: TestContext): Promise<{ store: Store; categories: Categories }> {
    const store = await engine.createStore(t);
    return { store, categories: createCategories(await store.open(), systemClock) };
  }

  test('a category is created, renamed and deleted, each with an event and a row in the audit log', async (t) => {
    const { store, categories } = await prepare(t);
    assert.deepEqual(await categories.put({ id: 3n, name: 'Dogs' }, actor), { isNew: true });
    assert.deepEqual(await categories.put({ id: 3n, name: 'D\u00f6gs' }, actor), { isNew: false });
    assert.deepEqual(await categories.put({ id: 3n, name: 'D\u00f6gs' }, actor), { isNew: false });
    const [listed] = (await categories.list(5, null)).items;
    assert.deepEqual({ ...listed }, { id: 3n, name: 'D\u00f6gs' });
    await categories.remove(3n, actor);
    await assert.rejects(categories.remove(3n, actor), { code: 'not_found' });
    const types = (await listEvents(store)).map((event) => event.split(' ')[0]);
    assert.deepEqual(types, ['category.updated', 'category.updated', 'category.deleted']);
    const columns = 'actor_kind, actor, action, subject, account_id, before, after';
    const rows = await store.execute(`select ${columns} from audit order by id`);
    const entries = [
      ['category.changed', null, '{"name":"Dogs"}'],
      ['category.changed', '{"name":"Dogs"}', '{"name":"D\u00f6gs"}'],
      ['category.deleted', '{"name":"D\u00f6gs"}', null],
    ].map(([action, before, after]) => ['key', actor.name, action, '3', null, before, after]);
    const stored = rows.map((row) => Object.values(row as object));
    assert.deepEqual(stored, entries);
  });

  test('the limit of 10,000 categories stops only adds, even concurrent ones', async (t) => {
    const { store, categories } = await prepare(t);
    const other = createCategories(await store.open(), systemClock);
    await store.execute(
      `with recursive numbers (id) as (select 1 union all select id + 1 from numbers where id < ${categoriesMax - 5n})
        insert into categories select id, 'c' from numbers`,
    );
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? categories : other).put({ id: 20_000n + BigInt(n), name: 'n' }, actor),
      ),
    );
    const codes = outcomes.map((one) => (one.status === 'rejected' ? one.reason.code : one.status));
    assert.deepEqual(countStatuses(codes), { fulfilled: 5, limit_reached: 15 });
    assert.deepEqual(await categories.put({ id: 1n, name: 'one' }, actor), { isNew: false });
    await categories.remove(1n, actor);
    assert.deepEqual(await categories.put({ id: -1n, name: 'other' }, actor), { isNew: true });
  });
});
