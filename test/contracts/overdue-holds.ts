import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Engine, Store } from '../support/engines.ts';
import { closeHold } from './overdue-holds-works.ts';

const overdueMs = 1_000;

/** Adds an animal and a reserved order for it. Returns a function that lists the later events as `type status`. */
export async function reserve(store: Store, expiresAtMs: number): Promise<() => Promise<string[]>> {
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

/** Lists all events in order, including events without a position. */
export async function listEvents(store: Store): Promise<string[]> {
  const events: string[] = [];
  for (const table of ['events', 'event_outbox'])
    for (const row of await store.execute(`select type, data from ${table} order by id`)) {
      const { type, data } = row as { type: string; data: string };
      events.push(`${type} ${JSON.parse(data).status}`);
    }
  return events;
}

/** Contract tests of src/pets/close-overdue-hold.ts. */
export function describeOverdueHolds(engine: Engine): void {
  const read = async (store: Store) => ({
    pets: await store.execute('select status, is_owned from pets'),
    orders: await store.execute('select status, closed_at_ms from orders'),
  });
  const numbers = (rows: readonly unknown[]) =>
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row as object).map(([name, value]) => [
          name,
          value === null || Number.isNaN(Number(value)) ? value : Number(value),
        ]),
      ),
    );

  async function prepare(t: TestContext, expiresAtMs: number) {
    const store = await engine.createStore(t);
    const database = await store.open();
    const newEvents = await reserve(store, expiresAtMs);
    return { store, database, newEvents };
  }

  describe(`an overdue hold on ${engine.name}`, { skip: engine.skip }, () => {
    test('is closed once: the order expires at the end of the hold, and the animal is available again', async (t) => {
      const { store, database, newEvents } = await prepare(t, overdueMs);
      assert.equal(await database.transact(closeHold, { petId: 1n }), true);
      const { pets, orders } = await read(store);
      assert.deepEqual(numbers(pets), [{ status: 'available', is_owned: 0 }]);
      assert.deepEqual(numbers(orders), [{ status: 'expired', closed_at_ms: overdueMs }]);
      assert.deepEqual(await newEvents(), ['pet.updated available', 'order.expired expired']);
      assert.equal(await database.transact(closeHold, { petId: 1n }), false);
      assert.equal((await newEvents()).length, 2);
    });

    test('stays open before its expiry', async (t) => {
      const { store, database, newEvents } = await prepare(t, Date.now() + 60_000);
      assert.equal(await database.transact(closeHold, { petId: 1n }), false);
      const { pets, orders } = await read(store);
      assert.deepEqual(numbers(pets), [{ status: 'pending', is_owned: 1 }]);
      assert.deepEqual(numbers(orders), [{ status: 'reserved', closed_at_ms: null }]);
      assert.deepEqual(await newEvents(), []);
    });

    test('is closed by exactly one of ten concurrent transactions', async (t) => {
      const { database, newEvents } = await prepare(t, overdueMs);
      const closed = await Promise.all(
        Array.from({ length: 10 }, () => database.transact(closeHold, { petId: 1n })),
      );
      assert.equal(closed.filter(Boolean).length, 1);
      assert.equal((await newEvents()).length, 2);
    });
  });
}
