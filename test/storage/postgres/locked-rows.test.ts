import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createFirstAnswers } from '../../../src/idempotency/answer-once.ts';
import { createOrders } from '../../../src/orders/orders.ts';
import type { OrderKey } from '../../../src/orders/place-order.ts';
import { createCatalogue } from '../../../src/pets/catalogue.ts';
import { connectionsDefault } from '../../../src/setting-values.ts';
import { divideConnections } from '../../../src/storage/postgres/pool.ts';
import { hold, keyed } from '../../contracts/order-shop.ts';
import { addAccount, addKey } from '../../contracts/store-contents.ts';
import { importPets } from '../../support/catalogue.ts';
import { findPostgres } from '../../support/engines.ts';
import { connectPostgres } from '../../support/postgres-databases.ts';
import { startCounting } from '../../support/postgres-messages.ts';
import { eventually } from '../../support/redis-server.ts';

const postgres = await findPostgres();
const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

/** Opens the animals and orders of a store with 200 animals, and a connection of another program. */
async function open(t: TestContext) {
  const store = await postgres.createStore(t);
  const { url, errorCodes } = await startCounting(t, store.url);
  const database = await store.open(url);
  const firstAnswers = createFirstAnswers(database);
  const catalogue = createCatalogue(database, firstAnswers);
  const orders = createOrders(database, firstAnswers);
  await importPets(database, Array(200).fill(rex));
  const other = await connectPostgres(t, store.url);
  const watcher = await connectPostgres(t, store.url);
  let accounts = 0;

  async function countBlocked(): Promise<number> {
    const { rows } = await watcher.query(`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length;
  }

  const addBuyer = async (): Promise<OrderKey> => {
    accounts += 1;
    const [name, keyId] = [`buyer ${accounts}`, `key_${accounts}`];
    const key = await addKey(database, await addAccount(database, name, 'business'), keyId);
    return { ...key, isManager: false };
  };
  const place = (key: OrderKey, petId: bigint) => orders.place({ ...hold, petId }, key, null);

  return {
    catalogue,
    errorCodes,
    addBuyer,
    place,
    change: ({ accountId }: OrderKey, petId: bigint) =>
      catalogue.change(petId, { name: 'Max' }, null, accountId),
    /** Locks rows as a transaction that hangs does. Returns the function that ends it. */
    async lock(rows: string) {
      await other.query('begin');
      await other.query(`select from ${rows} for update`);
      return () => other.query('rollback');
    },
    /** Resolves once an act waits for a lock. */
    untilBlocked: () => eventually(async () => (await countBlocked()) > 0),
    /** Returns the highest number of connections that wait for a lock, until all acts are settled. */
    async watch(acts: readonly Promise<unknown>[]): Promise<number> {
      let areSettled = false;
      const settled = Promise.allSettled(acts).then(() => {
        areSettled = true;
      });
      let most = 0;
      while (!areSettled) most = Math.max(most, await countBlocked());
      await settled;
      return most;
    },
    /** Adds and orders of an account that has nothing to do with the locked rows. */
    async actBeside(buyer: OrderKey): Promise<void> {
      await catalogue.add(rex, buyer.accountId);
      const idempotency = { ...keyed(buyer, 'beside'), operation: 'createPet' };
      await catalogue.addOnce(rex, idempotency, '/pets/');
      await place(buyer, 200n);
      await catalogue.change(199n, { name: 'Max' }, null, buyer.accountId);
    },
  };
}

/** What PostgreSQL says at the end of the lock timeout. */
const lockNotHad = '55P03';
const ids = Array.from({ length: 8 }, (_, place) => BigInt(place + 1));

describe('while rows are locked in PostgreSQL', { skip: postgres.skip }, () => {
  test('eight changes of them by one account hold up no add, order or change of another', async (t) => {
    const { addBuyer, lock, change, untilBlocked, actBeside } = await open(t);
    const [one, other] = [await addBuyer(), await addBuyer()];
    const unlock = await lock('pets where id <= 8');
    const changes = Promise.allSettled(ids.map((id) => change(one, id)));
    await untilBlocked();
    await actBeside(other);
    await unlock();
    await changes;
  });

  test('eight changes of them by as many accounts hold up no add, order or change of another', async (t) => {
    const { addBuyer, lock, change, untilBlocked, actBeside } = await open(t);
    const other = await addBuyer();
    const each = await Promise.all(ids.map(addBuyer));
    const unlock = await lock('pets where id <= 8');
    const changes = Promise.allSettled(ids.map((id, place) => change(each[place] ?? assert.fail(), id)));
    await untilBlocked();
    await actBeside(other);
    await unlock();
    await changes;
  });

  test('eight orders of an account whose row is locked hold up no add, order or change of another', async (t) => {
    const { addBuyer, lock, place, untilBlocked, actBeside } = await open(t);
    const [one, other] = [await addBuyer(), await addBuyer()];
    const unlock = await lock(`accounts where id = ${one.accountId}`);
    const orders = Promise.allSettled(ids.map((id) => place(one, id)));
    await untilBlocked();
    await actBeside(other);
    await unlock();
    await orders;
  });

  test('the waiting acts of one account hold two connections', async (t) => {
    const { addBuyer, lock, change, place, watch } = await open(t);
    const one = await addBuyer();
    await lock(`accounts where id = ${one.accountId}`);
    const unlock = await lock('pets where id <= 8');
    const acts = ids.flatMap((id) => [change(one, id), place(one, id + 8n)]);
    assert.equal(await watch(acts), 2);
    await unlock();
  });

  test('the waiting acts of all accounts leave one connection that writes', async (t) => {
    const { addBuyer, lock, change, watch } = await open(t);
    const each = await Promise.all(ids.map(addBuyer));
    const unlock = await lock('pets where id <= 8');
    const acts = each.flatMap((buyer) => ids.map((id) => change(buyer, id)));
    assert.equal(await watch(acts), divideConnections(connectionsDefault).writes - 1);
    await unlock();
  });

  test('an act that waits for them gives its connection back, then tries again', async (t) => {
    const { addBuyer, lock, change, errorCodes } = await open(t);
    const unlock = await lock('pets where id = 1');
    const changed = change(await addBuyer(), 1n).catch(() => undefined);
    await eventually(async () => errorCodes.filter((code) => code === lockNotHad).length > 1);
    await unlock();
    await changed;
  });

  test('an act that waits for them succeeds once they are free', async (t) => {
    const { addBuyer, lock, change, untilBlocked, catalogue } = await open(t);
    const one = await addBuyer();
    const unlock = await lock('pets where id = 1');
    const changed = change(one, 1n);
    await untilBlocked();
    await unlock();
    assert.equal((await changed).name, 'Max');
    assert.equal((await catalogue.get(1n))?.name, 'Max');
  });
});

test('an order does not wait for 60 orders of another account', { skip: postgres.skip }, async (t) => {
  const { addBuyer, place } = await open(t);
  const [one, other] = [await addBuyer(), await addBuyer()];
  let placed = 0;
  const orders = Array.from({ length: 60 }, async (_, index) => {
    await place(one, BigInt(index + 1));
    placed += 1;
  });
  const settled = Promise.allSettled(orders);
  await place(other, 100n);
  assert.ok(placed < 30, `${placed} were placed before`);
  await settled;
});
