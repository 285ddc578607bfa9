import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { OrderAction } from '../../src/orders/close-order.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import type { Orders } from '../../src/orders/orders.ts';
import type { OrderKey, OrderReader } from '../../src/orders/place-order.ts';
import { loadPets } from '../../src/pets/load-pets.ts';
import type { BadChanges } from '../../src/pets/loaded-pets.ts';
import type { PlanName } from '../../src/plans/plan.ts';
import { fieldOf, fieldsOf, walk } from '../accounts/world.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { countStatuses } from '../support/expect-error.ts';
import { asManager, hold, keyed, openShop, readOrder, type Shop } from './order-shop.ts';

const actions: readonly OrderAction[] = ['complete', 'cancel', 'return'];

/** Functions that bring an order into each state. An overdue hold is not closed yet. */
const states: Readonly<
  Record<OrderStatus | 'overdue', (shop: Shop, id: bigint, manager: OrderKey) => Promise<unknown>>
> = {
  reserved: async () => undefined,
  overdue: (shop, id) => shop.endHolds(id),
  expired: (shop, id) => shop.endHolds(id).then(() => shop.orders.expire()),
  completed: ({ orders }, id, manager) => orders.close('complete', id, manager),
  cancelled: ({ orders }, id, manager) => orders.close('cancel', id, manager),
  returned: ({ orders }, id, manager) =>
    orders.close('complete', id, manager).then(() => orders.close('return', id, manager)),
};

/** The next status, or the code of the refusal, for each state and action, and for another order for the animal. */
const outcomes: Readonly<Record<keyof typeof states, readonly [string, string, string, string]>> = {
  reserved: ['completed', 'cancelled', 'order_closed', 'pet_unavailable'],
  overdue: ['order_expired', 'order_closed', 'order_closed', 'reserved'],
  expired: ['order_expired', 'order_closed', 'order_closed', 'reserved'],
  completed: ['completed', 'order_closed', 'returned', 'pet_unavailable'],
  cancelled: ['order_closed', 'cancelled', 'order_closed', 'reserved'],
  returned: ['order_closed', 'order_closed', 'returned', 'pet_unavailable'],
};

const expires = ['pet.updated available', 'order.expired expired'];
const reserves = ['pet.updated pending', 'order.reserved reserved'];

/** What changes something: the rows of the animal and its orders afterwards, and the events. */
const effects: Readonly<Record<string, readonly [rows: string, events: readonly string[]]>> = {
  'reserved complete': ['sold owned, completed', ['pet.updated sold', 'order.completed completed']],
  'reserved cancel': ['available, cancelled', ['pet.updated available', 'order.cancelled cancelled']],
  'completed return': ['pending, returned', ['pet.updated pending', 'order.returned returned']],
  'overdue place': ['pending owned, reserved, expired', [...expires, ...reserves]],
  'expired place': ['pending owned, reserved, expired', reserves],
  'cancelled place': ['pending owned, reserved, cancelled', reserves],
};

async function outcomeOf(done: Promise<{ readonly status: string }>): Promise<string> {
  return done.then(
    ({ status }) => status,
    (error) => error.code ?? String(error),
  );
}

async function* sell(...ids: readonly bigint[]) {
  yield ids.map((id, index) => ({ id, line: index + 1, status: 'sold' }) as const);
}

const unfiltered = { limit: 100, status: null, petId: null, reference: null, newestId: null };

const listAll = (orders: Orders, reader: OrderReader, filter = {}) =>
  walk((newestId) => orders.list({ ...unfiltered, ...filter, limit: 2, newestId }, reader));

async function placeAt(instances: readonly Orders[], n: number, key: OrderKey, petId: bigint) {
  const orders = instances[n % instances.length] as Orders;
  return readOrder(await orders.place({ ...hold, petId }, key, null));
}

/** Returns SQL that makes it impossible to expire one order. */
function refuse(engine: Engine, id: bigint): string[] {
  if (engine.name === 'SQLite')
    return [
      `create trigger stuck before update on orders when new.id = ${id} and new.status = 'expired'
        begin select raise(abort, 'stuck'); end`,
    ];
  return [
    `create function stuck() returns trigger language plpgsql as $$ begin raise exception 'stuck'; end $$`,
    `create trigger stuck before update on orders for each row
      when (new.id = ${id} and new.status = 'expired') execute function stuck()`,
  ];
}

/** Contract tests of src/orders/orders.ts (contract section 12). */
await describeOnEngines('orders', (engine) => {
  async function openWithBuyer(t: TestContext, plan?: PlanName) {
    const shop = await openShop(t, engine);
    return { ...shop, buyer: await shop.addBuyer(plan) };
  }

  test('an order takes an available animal', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const petId = await shop.addPet();
    await shop.takeEvents();
    const placed = await shop.place(buyer, petId, { holdMs: 60_000, reference: 'A-1 🐈' });
    assert.deepEqual(Object.keys(placed), ['id', 'petId', 'status', 'reference', 'createdAt', 'expiresAt']);
    assert.deepEqual([placed.petId, placed.status, placed.reference], [petId, 'reserved', 'A-1 🐈']);
    assert.equal(Date.parse(placed.expiresAt) - Date.parse(placed.createdAt), 60_000);
    assert.equal(await shop.readRows(petId), 'pending owned, reserved');
    assert.deepEqual(await shop.takeEvents(), reserves);
  });

  test('get returns an order as it was placed', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const placed = await shop.place(buyer, await shop.addPet(), { holdMs: 60_000, reference: 'A-1 🐈' });
    assert.deepEqual(await shop.orders.get(placed.id, buyer), placed);
  });

  test('an order for an unavailable or unknown animal is refused and writes nothing', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const pets = [await shop.addPet('pending'), await shop.addPet('sold'), await shop.addPet()];
    const taken = pets[2] as bigint;
    await shop.place(buyer, taken);
    await shop.takeEvents();
    for (const petId of pets) assert.equal(await outcomeOf(shop.place(buyer, petId)), 'pet_unavailable');
    for (const petId of [0n, -1n, 99n, 2n ** 63n - 1n])
      assert.equal(await outcomeOf(shop.place(buyer, petId)), 'not_found');
    assert.deepEqual(await shop.takeEvents(), []);
    assert.equal(await shop.readRows(taken), 'pending owned, reserved');
  });

  test('every action in every state has exactly its documented effect', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const other = await shop.addBuyer();
    const manager = asManager(other);
    for (const [state, reach] of Object.entries(states))
      for (const [index, action] of [...actions, 'place' as const].entries()) {
        const petId = await shop.addPet();
        const { id } = await shop.place(buyer, petId);
        await reach(shop, id, manager);
        const before = await shop.readRows(petId);
        await shop.takeEvents();
        const cell = `${state} ${action}`;
        const done = action === 'place' ? shop.place(other, petId) : shop.orders.close(action, id, manager);
        assert.equal(await outcomeOf(done), outcomes[state as keyof typeof states][index], cell);
        const [rows, events] = effects[cell] ?? [before, []];
        assert.deepEqual([await shop.readRows(petId), await shop.takeEvents()], [rows, events], cell);
      }
  });

  test('an order is expired for every reader from the end of its hold on, without a sweep', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const petId = await shop.addPet();
    const { id } = await shop.place(buyer, petId);
    await shop.endHolds();
    const { status, closedAt, expiresAt } = await shop.orders.get(id, buyer);
    assert.deepEqual([status, closedAt], ['expired', expiresAt]);
    assert.equal(await shop.readRows(petId), 'pending owned, reserved');
    const list = async (wanted: OrderStatus) =>
      fieldOf(await listAll(shop.orders, buyer, { status: wanted }), 'id');
    assert.deepEqual([await list('reserved'), await list('expired')], [[], [id]]);
  });

  test('the sweep closes only overdue holds, in the order of their expiry', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const placed = [];
    for (let n = 0; n < 4; n += 1) placed.push(await shop.place(buyer, await shop.addPet()));
    const [one, two, three, open] = placed.map(({ id }) => id) as [bigint, bigint, bigint, bigint];
    await shop.endHolds(one, two, three);
    await shop.store.execute(`update orders set expires_at_ms = 1 where id = ${three}`);
    await shop.takeEvents();
    assert.equal(await shop.orders.expire(), 3);
    assert.deepEqual(await shop.takeEvents(), Array(3).fill(expires).flat());
    assert.equal(await shop.orders.expire(), 0);
    for (const id of [one, two, three]) {
      const { status, closedAt, expiresAt } = await shop.orders.get(id, buyer);
      assert.deepEqual([status, closedAt], ['expired', expiresAt]);
    }
    assert.equal((await shop.orders.get(open, buyer)).status, 'reserved');
    const events = engine.name === 'SQLite' ? 'events' : 'event_outbox';
    const sql = `select data from ${events} where type = 'order.expired' order by id`;
    const expired = await shop.store.execute<{ data: string }>(sql);
    const closed = expired.map(({ data }) => BigInt(JSON.parse(data).id));
    assert.deepEqual(closed, [three, one, two]);
  });

  test('orders of another account are not found, except by a manager, who may filter by account', async (t) => {
    const { buyer: owner, ...shop } = await openWithBuyer(t);
    const other = await shop.addBuyer();
    const { id } = await shop.place(owner, await shop.addPet());
    await assert.rejects(async () => shop.orders.get(id, other), { code: 'not_found' });
    for (const action of actions)
      assert.equal(await outcomeOf(shop.orders.close(action, id, other)), 'not_found');
    assert.deepEqual(await listAll(shop.orders, other), []);
    assert.equal((await shop.orders.get(id, asManager(other))).account, 'buyer 1');
    const own = await shop.place(other, await shop.addPet());
    const shown = async (reader: OrderReader, filter = {}) =>
      fieldsOf(await listAll(shop.orders, reader, filter), 'id', 'account');
    const ofOwner = { ofAccount: owner.accountId };
    assert.deepEqual(await shown(asManager(other)), [
      [own.id, 'buyer 2'],
      [id, 'buyer 1'],
    ]);
    assert.deepEqual(await shown(asManager(other), ofOwner), [[id, 'buyer 1']]);
    assert.deepEqual(await shown(other, ofOwner), [[own.id, undefined]]);
    assert.equal((await shop.orders.close('complete', id, asManager(other))).account, 'buyer 1');
  });

  test('a list combines the filters status, animal and reference, newest first and page by page', async (t) => {
    const shop = await openShop(t, engine);
    const [buyer, other] = [await shop.addBuyer(), await shop.addBuyer()];
    const pets = [await shop.addPet(), await shop.addPet(), await shop.addPet()];
    for (let n = 0; n < 24; n += 1) {
      const petId = pets[n % 3] as bigint;
      const reader = n % 4 === 0 ? other : buyer;
      const { id } = await shop.place(reader, petId, { reference: n % 5 === 0 ? 'five' : null });
      if (n >= 21) continue;
      if (n % 2 === 0) await shop.orders.close('cancel', id, reader);
      else await shop.endHolds(id);
      if (n % 3 === 0) await shop.orders.expire();
    }
    const last = await shop.orders.list({ ...unfiltered, limit: 1 }, asManager(buyer));
    await shop.endHolds(last.items[0]?.id as bigint);
    for (const reader of [buyer, asManager(buyer)]) {
      const everything = await listAll(shop.orders, reader);
      assert.equal(everything.length, reader.isManager ? 24 : 18);
      const seen = new Set(everything.map(({ status }) => status));
      assert.deepEqual([...seen].sort(), ['cancelled', 'expired', 'reserved']);
      for (const status of [null, 'reserved', 'expired', 'cancelled', 'completed'] as const)
        for (const petId of [null, ...pets])
          for (const reference of [null, 'five', 'none']) {
            const filter = { status, petId, reference };
            const expected = everything.filter(
              (order) =>
                (status === null || order.status === status) &&
                (petId === null || order.petId === petId) &&
                (reference === null || order.reference === reference),
            );
            assert.deepEqual(await listAll(shop.orders, reader, filter), expected);
          }
    }
  });

  test('exactly one of 30 concurrent orders for one animal is placed, across instances', async (t) => {
    const shop = await openShop(t, engine);
    const instances = [shop.orders, await shop.openOther()];
    const buyers = await Promise.all(Array.from({ length: 3 }, () => shop.addBuyer()));
    for (const isOverdue of [false, true]) {
      const petId = await shop.addPet();
      if (isOverdue) {
        await shop.place(buyers[0] as never, petId);
        await shop.endHolds();
      }
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, n) => outcomeOf(placeAt(instances, n, buyers[n % 3] as never, petId))),
      );
      assert.deepEqual(countStatuses(outcomes), { reserved: 1, pet_unavailable: 29 });
      const former = isOverdue ? ', expired' : '';
      assert.equal(await shop.readRows(petId), `pending owned, reserved${former}`);
    }
  });

  test('exactly one of concurrent complete, cancel and expiry succeeds', async (t) => {
    const shop = await openShop(t, engine);
    const other = await shop.openOther();
    const buyer = await shop.addBuyer();
    for (let n = 0; n < 20; n += 1) {
      const petId = await shop.addPet();
      const { id } = await shop.place(buyer, petId);
      await shop.takeEvents();
      const [completed, cancelled] = await Promise.all([
        outcomeOf(shop.orders.close('complete', id, buyer)),
        outcomeOf(other.close('cancel', id, buyer)),
        n % 2 === 0 ? shop.endHolds(id) : undefined,
        shop.orders.expire(),
        other.expire(),
      ]);
      await shop.orders.expire();
      const closing = (await shop.takeEvents()).filter((event) => event.startsWith('order.'));
      assert.equal(closing.length, 1, `${closing}`);
      const done = [completed, cancelled].filter((one) => one === 'completed' || one === 'cancelled');
      const status = (await shop.orders.get(id, buyer)).status;
      assert.deepEqual(done, status === 'expired' ? [] : [status]);
      const pet = status === 'completed' ? 'sold owned' : 'available';
      assert.equal(await shop.readRows(petId), `${pet}, ${status}`);
    }
  });

  test('an account gets exactly its limit of open holds', async (t) => {
    const shop = await openShop(t, engine);
    const instances = [shop.orders, await shop.openOther()];
    const buyer = await shop.addBuyer('free');
    const pets = await Promise.all(Array.from({ length: 24 }, () => shop.addPet()));
    const placed = await Promise.all(pets.map((petId, n) => outcomeOf(placeAt(instances, n, buyer, petId))));
    assert.deepEqual(countStatuses(placed), { reserved: 5, limit_reached: 19 });
    assert.equal((await shop.store.execute(`select id from pets where status = 'available'`)).length, 19);
  });

  test('an order at the limit of open holds closes the overdue ones', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t, 'free');
    for (const petId of await shop.addPets(5)) await shop.place(buyer, petId);
    await shop.endHolds();
    await shop.place(buyer, await shop.addPet());
    assert.deepEqual(fieldOf(await listAll(shop.orders, buyer), 'status'), [
      'reserved',
      ...Array(5).fill('expired'),
    ]);
    assert.equal((await shop.store.execute(`select id from orders where status = 'reserved'`)).length, 1);
  });

  test('an owned animal that is set to available in the database is not sold again', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    for (const reach of [states.reserved, states.completed]) {
      const petId = await shop.addPet();
      const { id } = await shop.place(buyer, petId);
      await reach(shop, id, asManager(buyer));
      // The statement of an order checks `is_owned`, which is wrong now. Only the unique index refuses the order.
      await shop.store.execute(`update pets set status = 'available', is_owned = 0 where id = ${petId}`);
      await shop.takeEvents();
      assert.equal(await outcomeOf(shop.place(buyer, petId)), 'pet_unavailable');
      assert.deepEqual(await shop.takeEvents(), []);
      const owners = `select id from orders where pet_id = ${petId} and status in ('reserved', 'completed')`;
      assert.equal((await shop.store.execute(owners)).length, 1);
    }
  });

  test('an Enterprise account may have its own limit of open holds', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t, 'enterprise');
    await shop.store.execute(`update accounts set open_holds = 2 where id = ${buyer.accountId}`);
    const place = async () => outcomeOf(shop.place(buyer, await shop.addPet()));
    for (const outcome of ['reserved', 'reserved', 'limit_reached']) assert.equal(await place(), outcome);
  });

  test('a limit of open holds stops an account, but no manager', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t, 'enterprise');
    await shop.store.execute(`update accounts set open_holds = 2 where id = ${buyer.accountId}`);
    // The account has three open holds then.
    for (const reader of [buyer, buyer, asManager(buyer)]) await shop.place(reader, await shop.addPet());
    await assert.rejects(shop.place(buyer, await shop.addPet()), {
      code: 'limit_reached',
      message: 'this account may open another hold only while it has fewer than 2',
    });
  });

  test('an order is not placed if the record of its Idempotency-Key cannot be written', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const petId = await shop.addPet();
    await shop.takeEvents();
    const nobody = keyed({ accountId: 404n }, 'k');
    await assert.rejects(shop.orders.place({ ...hold, petId }, buyer, nobody));
    assert.equal(await shop.readRows(petId), 'available');
    assert.deepEqual(await shop.takeEvents(), []);
  });

  test('the Idempotency-Key of a refused order can be used again', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const place = (id: bigint, body: string) =>
      shop.orders.place({ ...hold, petId: id }, buyer, keyed(buyer, 'k', body));
    await assert.rejects(place(await shop.addPet('sold'), 'one'), { code: 'pet_unavailable' });
    assert.equal((await place(await shop.addPet(), 'two')).isReplayed, false);
  });

  test('a returned order has the time of its return, also after a second return', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const petId = await shop.addPet();
    const { id } = await shop.place(buyer, petId);
    await shop.orders.close('complete', id, buyer);
    // Moves the sale into the past.
    await shop.store.execute(`update orders set created_at_ms = 1, closed_at_ms = 2 where id = ${id}`);
    const returned = await shop.orders.close('return', id, asManager(buyer));
    assert.ok(returned.closedAt !== undefined && Date.parse(returned.closedAt) > 2);
    assert.deepEqual(await shop.orders.close('return', id, asManager(buyer)), returned);
  });

  test('an import, but no dry run, closes the overdue holds of the animals that it changes', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const [overdue, held, other] = (await shop.addPets(3)) as [bigint, bigint, bigint];
    for (const petId of [overdue, other]) await shop.place(buyer, petId);
    await shop.endHolds();
    await shop.place(buyer, held);
    await shop.takeEvents();
    const bad: number[] = [];
    const onBadChanges = ({ first }: BadChanges) => void bad.push(...first.map(({ line }) => line));
    const load = (isDryRun: boolean) =>
      loadPets(shop.database, sell(overdue, held), { onBadChanges, isDryRun });
    assert.deepEqual(await load(true), { added: 0, changed: 1 });
    assert.deepEqual(await shop.takeEvents(), []);
    assert.deepEqual(await load(false), { added: 0, changed: 1 });
    assert.deepEqual(bad, [2, 2]);
    assert.deepEqual(await shop.takeEvents(), [...expires, 'pet.updated sold']);
    assert.equal(await shop.readRows(overdue), 'sold, expired');
    for (const petId of [held, other]) assert.equal(await shop.readRows(petId), 'pending owned, reserved');
  });

  test('the sweep closes other overdue holds even if it cannot close one of them', async (t) => {
    const { buyer, ...shop } = await openWithBuyer(t);
    const placed = [];
    for (let n = 0; n < 3; n += 1) placed.push(await shop.place(buyer, await shop.addPet()));
    await shop.endHolds();
    const stuck = placed[1]?.id as bigint;
    for (const text of refuse(engine, stuck)) await shop.store.execute(text);
    await assert.rejects(shop.orders.expire(), /stuck/);
    const rows = await shop.store.execute<{ status: string }>('select status from orders order by id');
    assert.deepEqual(fieldOf(rows, 'status'), ['expired', 'reserved', 'expired']);
  });
});
