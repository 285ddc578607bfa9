import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { closeOrder } from '../../src/orders/close-order.ts';
import { type Order, toOrder } from '../../src/orders/order.ts';
import { type OrderKey, placeOrder } from '../../src/orders/place-order.ts';
import { loadPets } from '../../src/pets/load-pets.ts';
import type { Steps } from '../../src/storage/database.ts';
import { runSteps, takeValue } from '../../src/storage/postgres/run-steps.ts';
import { hold, keyed, openShop, readOrder, type Shop } from '../contracts/order-shop.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { startCounting } from '../support/postgres-messages.ts';
import { eventually } from '../support/redis-server.ts';

const postgres = await findPostgres();

const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Runs a transaction that waits for its locks. The service would give up soon, and try again. */
async function runPatiently<T>(t: TestContext, { store }: Shop, body: Steps<T>): Promise<T> {
  const client = await connectPostgres(t, store.url);
  await client.query('begin');
  const [outcome] = await runSteps(client, [body]);
  await client.query('commit');
  return takeValue(outcome);
}

/** Completes an order. The transaction waits for a lock on the animal from before the expiry of the hold until after it. */
async function completePastEnd(
  t: TestContext,
  shop: Shop,
  buyer: OrderKey,
  { id, petId, leftMs }: { id: bigint; petId: bigint; leftMs: number },
): Promise<Order | 'order_expired'> {
  const changing = await beginAt(t, shop, `update pets set name = 'Max' where id = ${petId}`);
  const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)';
  await shop.store.execute(`update orders set expires_at_ms = ${clock} + ${leftMs} where id = ${id}`);
  const { accountId } = buyer;
  let isSettled = false;
  const completed = runPatiently(t, shop, closeOrder.body({ action: 'complete', id, accountId })).finally(
    () => {
      isSettled = true;
    },
  );
  completed.catch(() => undefined);
  while (!isSettled && (await shop.store.execute(waits)).length === 0);
  const open = `select from orders where id = ${id} and expires_at_ms >= ${clock}`;
  while ((await shop.store.execute(open)).length > 0);
  await changing.query('commit');
  return completed.then(
    ({ row }) => toOrder(row, false),
    ({ code }) => code,
  );
}

/** Begins a transaction with a statement on a connection of its own. */
async function beginAt(t: TestContext, { store }: Shop, sql: string) {
  const client = await connectPostgres(t, store.url);
  await client.query(`begin; ${sql}`);
  return client;
}

async function open(t: TestContext) {
  const shop = await openShop(t, postgres);
  return { shop, buyer: await shop.addBuyer(), petId: await shop.addPet() };
}

describe('transactions of orders that wait in PostgreSQL', { skip: postgres.skip }, () => {
  test('an Idempotency-Key is refused at another instance only while its first order runs', async (t) => {
    const { shop, buyer, petId } = await open(t);
    const blocking = await beginAt(t, shop, `select from pets where id = ${petId} for update`);
    const placing = { ...hold, ...buyer, petId, idempotency: keyed(buyer, 'k') };
    const placed = runPatiently(t, shop, placeOrder.body(placing));
    await eventually(async () => (await shop.store.execute(waits)).length === 1);
    const retry = () => shop.orders.place({ ...hold, petId }, buyer, keyed(buyer, 'k'));
    await assert.rejects(retry, { code: 'idempotency_key_in_use' });
    await blocking.query('rollback');
    const first = await placed;
    assert.equal(first.isReplayed, false);
    assert.deepEqual(await retry(), { ...first, isReplayed: true });
  });

  test('a retry does not wait for another retry with its key', async (t) => {
    const { shop, buyer, petId } = await open(t);
    const place = () => shop.orders.place({ ...hold, petId }, buyer, keyed(buyer, 'k'));
    const first = await place();
    await beginAt(t, shop, 'select from first_answers for share');
    assert.deepEqual(await place(), { ...first, isReplayed: true });
  });

  test('a retry gets its order beside other orders for its animal or a deletion of it', async (t) => {
    const { shop, buyer, petId } = await open(t);
    const place = (key: string) =>
      shop.orders.place({ ...hold, petId }, buyer, keyed(buyer, key)).catch(({ code }) => code);
    const first = await place('k');
    const again = { ...first, isReplayed: true };
    assert.deepEqual(await Promise.all([place('other'), place('k')]), ['pet_unavailable', again]);
    await shop.orders.close('cancel', readOrder(first).id, buyer);
    await shop.store.execute(`delete from pets where id = ${petId}`);
    const outcomes = await Promise.all([place('other'), place('third'), place('k')]);
    assert.deepEqual(outcomes, ['not_found', 'not_found', again]);
  });

  test('an order that is completed around the end of its hold has a closing time before the end', async (t) => {
    const shop = await openShop(t, postgres);
    const buyer = await shop.addBuyer();
    // On a busy machine, a short hold may expire before the service handles the request. So longer holds are tried, too.
    for (let leftMs = 1_000; ; leftMs *= 2) {
      const petId = await shop.addPet();
      const { id } = await shop.place(buyer, petId);
      const completed = await completePastEnd(t, shop, buyer, { id, petId, leftMs });
      if (completed === 'order_expired') continue;
      const { status, closedAt, expiresAt } = completed;
      assert.equal(status, 'completed');
      assert.ok(closedAt !== undefined && closedAt < expiresAt, `${closedAt} ${expiresAt}`);
      return;
    }
  });

  test('an order takes three round trips, four with an Idempotency-Key, two for its retry or completion', async (t) => {
    const shop = await openShop(t, postgres);
    const way = await startCounting(t, shop.store.url);
    const counted = await shop.openOther(way.url);
    const buyer = await shop.addBuyer();
    const [first, second, third] = (await shop.addPets(3)) as [bigint, bigint, bigint];
    const place = async (petId: bigint, key?: string) =>
      counted.place({ ...hold, petId }, buyer, key === undefined ? null : keyed(buyer, key));
    // The first use of a connection takes further round trips.
    const { id } = readOrder(await place(first));
    for (const [trips, act] of [
      [3, () => place(second)],
      [4, () => place(third, 'k')],
      [2, () => place(third, 'k')],
      [2, () => counted.close('complete', id, buyer)],
    ] as const) {
      const before = way.countRoundTrips();
      await act();
      assert.equal(way.countRoundTrips() - before, trips);
    }
  });

  test('a hanging order transaction does not delay orders of other accounts', async (t) => {
    const shop = await openShop(t, postgres);
    const [held, free] = [await shop.addBuyer(), await shop.addBuyer()];
    const [petOfHeld, first, second] = [await shop.addPet(), await shop.addPet(), await shop.addPet()];
    const own = `update pets set status = 'pending', is_owned = 1 where id = ${petOfHeld}`;
    const hanging = await beginAt(t, shop, own);
    await hanging.query(`select from accounts where id = ${held.accountId} for no key update`);
    const { id } = await shop.place(free, first as bigint);
    await shop.orders.close('complete', id, free);
    const other = await shop.place(free, second as bigint);
    await shop.orders.close('cancel', other.id, free);
    await hanging.query('rollback');
  });

  test('an add with a key that waits for a change of its account does not delay those of other accounts', async (t) => {
    const shop = await openShop(t, postgres);
    const [held, free] = [await shop.addBuyer(), await shop.addBuyer()];
    const catalogue = openCatalogue(shop.database);
    const add = (buyer: OrderKey, key: string) =>
      catalogue.addOnce({ name: 'Rex', categoryId: 7n, status: 'available' }, keyed(buyer, key), '/pets/');
    const changing = await beginAt(t, shop, `select from accounts where id = ${held.accountId} for update`);
    let isAdded = false;
    // On a busy machine, the adds of the other account may take longer than a lock may be waited for.
    const waiting = add(held, 'k').then(
      () => {
        isAdded = true;
      },
      ({ code }) => assert.equal(code, 'unavailable'),
    );
    for (let round = 0; round < 3; round += 1)
      await Promise.all([1, 2, 3].map((number) => add(free, `${round} ${number}`)));
    assert.equal(isAdded, false);
    await changing.query('rollback');
    await waiting;
  });

  for (const [what, change] of [
    ['animal', (petId: bigint) => `update pets set name = 'Max' where id = ${petId}`],
    ['order', (petId: bigint) => `update orders set reference = 'x' where pet_id = ${petId}`],
  ] as const)
    test(`an order that waits for a change of its ${what} is completed with its events in order`, async (t) => {
      const { shop, buyer, petId } = await open(t);
      const { id } = await shop.place(buyer, petId);
      const changing = await beginAt(t, shop, change(petId));
      await shop.takeEvents();
      const completed = shop.orders.close('complete', id, buyer);
      while ((await shop.store.execute(waits)).length === 0);
      await changing.query('commit');
      assert.equal((await completed).status, 'completed');
      const events = (await shop.takeEvents()).slice(-2);
      assert.deepEqual(events, ['pet.updated sold', 'order.completed completed']);
      assert.equal(await shop.readRows(petId), 'sold owned, completed');
    });

  test('an animal that another transaction has locked delays neither the sweep nor an order at the limit', async (t) => {
    const shop = await openShop(t, postgres);
    const [buyer, other] = [await shop.addBuyer('free'), await shop.addBuyer()];
    const [locked, free, ...pets] = (await shop.addPets(7)) as [bigint, bigint, ...bigint[]];
    await shop.place(buyer, locked);
    for (const petId of pets.slice(0, 4)) await shop.place(buyer, petId);
    await shop.place(other, free);
    await shop.endHolds();
    const changing = await beginAt(t, shop, `update pets set name = 'Max' where id = ${locked}`);

    const last = pets.at(-1) as bigint;
    await shop.place(buyer, last);
    assert.equal(await shop.readRows(last), 'pending owned, reserved');
    assert.equal(await shop.readRows(pets[0] as bigint), 'available, expired');
    assert.equal(await shop.orders.expire(), 1);
    assert.equal(await shop.readRows(free), 'available, expired');
    assert.equal(await shop.readRows(locked), 'pending owned, reserved');

    await changing.query('commit');
    assert.equal(await shop.orders.expire(), 1);
    assert.equal(await shop.readRows(locked), 'available, expired');
  });

  test('an import that is repeated after a deadlock reports each bad row once', async (t) => {
    const { shop, buyer, petId } = await open(t);
    await shop.place(buyer, petId);
    await shop.endHolds();
    await shop.store.execute('create sequence attempts');
    await shop.store.execute(`create function fail_first() returns trigger language plpgsql as $$ begin
    if nextval('attempts') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if;
    return null; end $$`);
    await shop.store.execute(`create trigger fail_first before update on pets
      for each statement execute function fail_first()`);
    const rows = async function* () {
      const changes = [petId, 404n].map((id, line) => ({ id, line, name: 'Max' }));
      yield [{ name: 'New', categoryId: 1n }, ...changes];
    };
    const bad: number[] = [];
    const counts = await loadPets(shop.database, rows(), { onBadChanges: ({ count }) => bad.push(count) });
    assert.deepEqual([counts, bad], [{ added: 1, changed: 1 }, [1]]);
    assert.equal(await shop.readRows(petId), 'available, expired');
  });
});
