import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { OrderAction } from '../../src/orders/close-order.ts';
import type { OrderReader } from '../../src/orders/place-order.ts';
import type { Shop } from '../contracts/order-shop.ts';

interface ModelOrder {
  readonly id: bigint;
  readonly pet: number;
  readonly buyer: number;
  status: 'reserved' | 'overdue' | 'completed' | 'cancelled' | 'expired' | 'returned';
}

/** A model of a small store, without a database. */
export interface Model {
  readonly orders: ModelOrder[];
  readonly events: string[];
}

/** The real store with its animals and its buyers. The last buyer is a manager. */
export interface Real {
  readonly shop: Shop;
  readonly pets: readonly bigint[];
  readonly buyers: readonly OrderReader[];
}

type Command = fc.AsyncCommand<Model, Real>;
const openHoldsMax = 5;
const owning = ({ status }: ModelOrder) =>
  status === 'reserved' || status === 'overdue' || status === 'completed';

function expire(model: Model, order: ModelOrder): void {
  order.status = 'expired';
  model.events.push('pet.updated available', 'order.expired expired');
}

async function outcomeOf(done: Promise<{ status: string; id: bigint }>) {
  return done.then(
    ({ status, id }) => ({ outcome: status, id }),
    (error) => ({ outcome: String(error.code ?? error), id: 0n }),
  );
}

/** Applies an order to the model. Returns the expected outcome. */
function place(model: Model, pet: number, buyer: number, isManager: boolean): string {
  const owner = model.orders.find((order) => order.pet === pet && owning(order));
  const returned = model.orders.findLast((order) => order.pet === pet);
  if (owner !== undefined && owner.status !== 'overdue') return 'pet_unavailable';
  if (returned?.status === 'returned') return 'pet_unavailable';
  const own = model.orders.filter((order) => order.buyer === buyer && order !== owner);
  const open = own.filter(({ status }) => status === 'reserved').length;
  if (!isManager && open >= openHoldsMax) return 'limit_reached';
  if (owner !== undefined) expire(model, owner);
  model.events.push('pet.updated pending');
  const stored = own.filter(({ status }) => status === 'reserved' || status === 'overdue').length;
  if (!isManager && stored >= openHoldsMax)
    for (const overdue of own.filter(({ status }) => status === 'overdue')) expire(model, overdue);
  model.events.push('order.reserved reserved');
  return 'reserved';
}

function close(model: Model, order: ModelOrder, action: OrderAction): string {
  const shown = order.status === 'overdue' ? 'expired' : order.status;
  const to = { complete: 'completed', cancel: 'cancelled', return: 'returned' } as const;
  const from = action === 'return' ? 'completed' : 'reserved';
  if (shown === to[action]) return shown;
  if (shown !== from) return action === 'complete' && shown === 'expired' ? 'order_expired' : 'order_closed';
  order.status = to[action];
  const pet = { complete: 'sold', cancel: 'available', return: 'pending' }[action];
  model.events.push(`pet.updated ${pet}`, `order.${to[action]} ${to[action]}`);
  return to[action];
}

/** Generates sequences of commands that run on both the model and the store. */
export function commands(pets: number, buyers: number) {
  const pet = fc.nat(pets - 1);
  const buyer = fc.nat(buyers - 1);
  const step = (text: string, run: Command['run']): Command => ({
    check: () => true,
    run,
    toString: () => text,
  });
  const placing = fc.tuple(pet, buyer).map(([at, by]) =>
    step(`place ${at} by ${by}`, async (model, { shop, pets: all, buyers: keys }) => {
      const reader = keys[by] as OrderReader;
      const expected = place(model, at, by, reader.isManager);
      const { outcome, id } = await outcomeOf(shop.place(reader, all[at] as bigint));
      assert.equal(outcome, expected);
      if (outcome === 'reserved') model.orders.push({ id, pet: at, buyer: by, status: 'reserved' });
    }),
  );
  const closing = fc
    .tuple(fc.nat(30), fc.constantFrom<OrderAction>('complete', 'cancel', 'return'))
    .map(([which, action]) =>
      step(`${action} ${which}`, async (model, { shop, buyers: keys }) => {
        const order = model.orders[which % Math.max(1, model.orders.length)];
        if (order === undefined) return;
        const expected = close(model, order, action);
        const manager = keys.at(-1) as OrderReader;
        assert.equal((await outcomeOf(shop.orders.close(action, order.id, manager))).outcome, expected);
      }),
    );
  const ending = fc.nat(30).map((which) =>
    step(`end ${which}`, async (model, { shop }) => {
      const order = model.orders[which % Math.max(1, model.orders.length)];
      if (order?.status !== 'reserved') return;
      order.status = 'overdue';
      await shop.endHolds(order.id);
    }),
  );
  const sweeping = fc.constant(
    step('sweep', async (model, { shop }) => {
      for (const order of model.orders.filter(({ status }) => status === 'overdue')) expire(model, order);
      await shop.orders.expire();
    }),
  );
  return fc.commands([placing, placing, closing, closing, ending, sweeping], { maxCommands: 60 });
}

/** Throws if the store differs from the model. */
export async function compare(model: Model, { shop, pets, buyers }: Real): Promise<void> {
  const manager = buyers.at(-1) as OrderReader;
  for (const { id, status } of model.orders)
    assert.equal((await shop.orders.get(id, manager)).status, status === 'overdue' ? 'expired' : status);
  for (const [at, petId] of pets.entries()) {
    const placed = model.orders.filter(({ pet }) => pet === at).toReversed();
    const rows = placed.map(({ status }) => (status === 'overdue' ? 'reserved' : status));
    assert.equal(await shop.readRows(petId), [describePet(placed), ...rows].join(', '));
  }
  assert.deepEqual(await shop.takeEvents(), model.events);
}

function describePet(placed: readonly ModelOrder[]): string {
  const [newest] = placed;
  const owner = placed.find(owning);
  if (owner !== undefined) return owner.status === 'completed' ? 'sold owned' : 'pending owned';
  return newest?.status === 'returned' ? 'pending' : 'available';
}
