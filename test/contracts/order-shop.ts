import type { TestContext } from 'node:test';
import { parseExactJson } from '../../src/exact-json.ts';
import {
  createFirstAnswers,
  hashIdempotencyKey,
  type Idempotency,
} from '../../src/idempotency/answer-once.ts';
import type { Order } from '../../src/orders/order.ts';
import { createOrders } from '../../src/orders/orders.ts';
import type { CompleteOrder, OrderKey, OrderReader } from '../../src/orders/place-order.ts';
import { insertedId, insertPet } from '../../src/pets/pet-rows.ts';
import type { PlanName } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import { petValues } from '../support/catalogue.ts';
import { type Engine, openStore, type Store } from '../support/engines.ts';
import { addAccount, addKey } from './store-contents.ts';

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** An order without a reference that holds its animal for an hour. */
export const hold = { reference: null, holdMs: 3_600_000 };

export async function openShop(t: TestContext, engine: Engine) {
  const { store, database } = await openStore(t, engine);
  const orders = openOrders(database);
  let accounts = 0;
  let taken = 0;

  return {
    store,
    database,
    orders,
    openOther: async (address?: string) => openOrders(await store.open(address)),

    async addPet(status = 'available'): Promise<bigint> {
      return insertedId(await database.run(insertPet, petValues({ status })));
    },

    /** Adds several available animals at once. */
    async addPets(count: number): Promise<bigint[]> {
      const rows = Array<string>(count).fill(`('Rex', 1, 'available', 0)`);
      const text = `insert into pets (name, category_id, status, is_owned) values ${rows.join()} returning id`;
      return (await store.execute<{ id: bigint }>(text)).map(({ id }) => BigInt(id));
    },

    /** Adds an account with a key: `buyer 1` with `key_1`, and so on. */
    async addBuyer(plan: PlanName = 'business'): Promise<OrderKey> {
      accounts += 1;
      const [name, keyId] = [`buyer ${accounts}`, `key_${accounts}`];
      const key = await addKey(database, await addAccount(database, name, plan), keyId);
      return { ...key, isManager: false };
    },

    /** Places an order and returns it. */
    place: async (key: OrderKey, petId: bigint, rest: Partial<CompleteOrder> = {}): Promise<Order> =>
      readOrder(await orders.place({ ...hold, petId, ...rest }, key, null)),

    /** Makes the holds of some or all orders overdue. */
    async endHolds(...ids: bigint[]): Promise<void> {
      const which = ids.length === 0 ? '' : `and id in (${ids.join()})`;
      await store.execute(
        `update orders set expires_at_ms = created_at_ms - 3600000 + id where status = 'reserved' ${which}`,
      );
    },

    /** Returns the statuses of an animal and of its orders in the store, newest order first. */
    async readRows(petId: bigint): Promise<string> {
      const select = store.execute<{ status: string; owned: unknown }>;
      const [pet] = await select(`select status, is_owned as owned from pets where id = ${petId}`);
      const placed = await select(`select status from orders where pet_id = ${petId} order by id desc`);
      const owned = Number(pet?.owned) === 1 ? ' owned' : '';
      return [`${pet?.status}${owned}`, ...placed.map(({ status }) => status)].join(', ');
    },

    /** Returns the events since the last call, as `type status`. */
    async takeEvents(): Promise<string[]> {
      const events = await listEvents(store);
      const fresh = events.slice(taken);
      taken = events.length;
      return fresh;
    },
  };
}

function openOrders(database: Database) {
  return createOrders(database, createFirstAnswers(database));
}

/** Parses the order in an answer. */
export function readOrder({ answer }: { readonly answer: { readonly body: string } }): Order {
  return parseExactJson(answer.body) as Order;
}

/** Returns the same key with access to the orders of all accounts. */
export function asManager(key: OrderKey): OrderKey {
  return { ...key, isManager: true };
}

/** Returns the idempotency data of a request with this key and body. */
export function keyed(
  { accountId }: Pick<OrderReader, 'accountId'>,
  key: string,
  body = 'body',
): Idempotency {
  return {
    accountId,
    keyHash: hashIdempotencyKey(accountId, key),
    operation: 'placeOrder',
    bodyHash: new Uint8Array(Buffer.from(body.padEnd(32))),
  };
}

type StoredEvent = Readonly<Record<'type' | 'data', string>>;

/** Lists all events in order, including events without a position. */
export async function listEvents(store: Store): Promise<string[]> {
  const events: string[] = [];
  for (const table of ['events', 'event_outbox'])
    for (const { type, data } of await store.execute<StoredEvent>(`select * from ${table} order by id`))
      events.push(`${type} ${JSON.parse(data).status}`);
  return events;
}
