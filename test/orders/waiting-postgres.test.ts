import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { openShop } from '../contracts/order-shop.ts';
import { findPostgres } from '../support/engines.ts';
import { startCounting } from '../support/postgres-messages.ts';

const postgres = await findPostgres();
const { skip } = postgres;

/** Round trips of one order: begin, take the animal, add the order, commit. */
const tripsOfOrder = 4;
const hold = { holdMs: 3_600_000, reference: null };

test('orders of different animals by different accounts are each begun once', { skip }, async (t) => {
  const shop = await openShop(t, postgres);
  const way = await startCounting(t, shop.store.url);
  const instances = await Promise.all(Array.from({ length: 4 }, () => shop.openOther(way.url)));
  const buyers = await Promise.all(Array.from({ length: 20 }, () => shop.addBuyer()));
  const pets = await Promise.all(Array.from({ length: 200 }, () => shop.addPet()));
  const before = way.countRoundTrips();
  const placed = await Promise.all(
    pets.map((petId, n) => instances[n % 4]?.place({ ...hold, petId }, buyers[n % 20] as never, null)),
  );
  assert.equal(placed.length, 200);
  assert.equal(way.countRoundTrips() - before, 200 * tripsOfOrder);
});

test('a transition is one round trip', { skip }, async (t) => {
  const shop = await openShop(t, postgres);
  const way = await startCounting(t, shop.store.url);
  const counted = await shop.openOther(way.url);
  const buyer = await shop.addBuyer();
  const { id } = await shop.place(buyer, await shop.addPet());
  const before = way.countRoundTrips();
  await counted.close('complete', id, buyer);
  assert.equal(way.countRoundTrips() - before, 1);
});

test('an order that hangs in the midst of its transaction holds up no other account', { skip }, async (t) => {
  const shop = await openShop(t, postgres);
  const [held, free] = [await shop.addBuyer(), await shop.addBuyer()];
  const [petOfHeld, first, second] = [await shop.addPet(), await shop.addPet(), await shop.addPet()];
  const hanging = await beginAt(shop.store.url);
  await hanging.query(`update pets set status = 'pending', is_owned = 1 where id = ${petOfHeld}`);
  await hanging.query(`select from accounts where id = ${held.accountId} for no key update`);
  const { id } = await shop.place(free, first as bigint);
  await shop.orders.close('complete', id, free);
  const other = await shop.place(free, second as bigint);
  await shop.orders.close('cancel', other.id, free);
  await hanging.query('rollback');
  await hanging.end();
});

for (const [what, change] of [
  ['animal', (petId: bigint) => `update pets set name = 'Max' where id = ${petId}`],
  ['order', (petId: bigint) => `update orders set reference = 'x' where pet_id = ${petId}`],
] as const)
  test(`a transition that waits for a change of its ${what} is done after it, with its events in order`, {
    skip,
  }, async (t) => {
    const shop = await openShop(t, postgres);
    const buyer = await shop.addBuyer();
    const petId = await shop.addPet();
    const { id } = await shop.place(buyer, petId);
    const changing = await beginAt(shop.store.url);
    await changing.query(change(petId));
    await shop.takeEvents();
    const completed = shop.orders.close('complete', id, buyer);
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await shop.store.execute(waits)).length === 0);
    await changing.query('commit');
    await changing.end();
    assert.equal((await completed).status, 'completed');
    const events = (await shop.takeEvents()).slice(-2);
    assert.deepEqual(events, ['pet.updated sold', 'order.completed completed']);
    assert.equal(await shop.readRows(petId), 'sold owned, completed');
  });

async function beginAt(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  return client;
}
