import { AnimalStore } from '../client.ts';
import type { EventType, Order } from '../generated.ts';
import { type Connection, UsageError } from './connection.ts';
import type { Print } from './deliver.ts';

export interface TriggerCommand extends Connection {
  readonly name: 'trigger';
  readonly type: EventType;
}

/** Makes a change and returns what it did, in words. */
type Trigger = (client: AnimalStore, shortestHoldSeconds: number) => Promise<string>;

/** The changes, by the event that they yield. Each makes its own animal, order or category, so none touches another's. */
export const triggers: Readonly<Record<EventType, Trigger>> = {
  'pet.added': async (client) => `added animal ${await addPet(client)}`,

  async 'pet.updated'(client) {
    const id = await addPet(client);
    await client.pets.update(id, { name: 'Rex II' });
    return `added and renamed animal ${id}`;
  },

  async 'pet.deleted'(client) {
    const id = await addPet(client);
    await client.pets.delete(id);
    return `added and deleted animal ${id}`;
  },

  async 'category.updated'(client) {
    const id = chooseCategory();
    await client.categories.put(id, { name: 'Test' });
    return `named category ${id}`;
  },

  async 'category.deleted'(client) {
    const id = chooseCategory();
    await client.categories.put(id, { name: 'Test' });
    await client.categories.delete(id);
    return `named and deleted category ${id}`;
  },

  async 'order.reserved'(client) {
    const { id, expiresAt } = await placeOrder(client);
    return `placed order ${id}, whose hold ends at ${expiresAt}`;
  },

  async 'order.completed'(client) {
    const { id } = await placeOrder(client);
    await client.orders.complete(id);
    return `placed and completed order ${id}`;
  },

  async 'order.cancelled'(client) {
    const { id } = await placeOrder(client);
    await client.orders.cancel(id);
    return `placed and cancelled order ${id}`;
  },

  async 'order.expired'(client, shortestHoldSeconds) {
    const { id, expiresAt } = await placeOrder(client, shortestHoldSeconds);
    return `placed order ${id}, which expires at ${expiresAt}; the event follows within 2 seconds`;
  },

  async 'order.returned'(client) {
    const { id } = await placeOrder(client);
    await client.orders.complete(id);
    await client.orders.return(id);
    return `placed, completed and returned order ${id}`;
  },
};

const shortestHold = { development: 1, elsewhere: 60 } as const;

/** Makes the change that yields an event. Refuses a key of a production store, because the change is a real one. */
export async function trigger(command: TriggerCommand, print: Print): Promise<void> {
  const { apiKey, baseUrl, type } = command;
  if (apiKey.startsWith('as_live_'))
    throw new UsageError(
      'trigger changes the store, so it refuses the key of a production store (as_live_…)',
    );
  const client = new AnimalStore({ apiKey, baseUrl });
  const seconds = apiKey.startsWith('as_dev_') ? shortestHold.development : shortestHold.elsewhere;
  print(`${type}: ${await triggers[type](client, seconds)}`);
}

async function addPet(client: AnimalStore): Promise<bigint> {
  return (await client.pets.create({ name: 'Rex', categoryId: 1 })).id;
}

async function placeOrder(client: AnimalStore, holdSeconds?: number): Promise<Order> {
  const petId = await addPet(client);
  return await client.orders.place({ petId, reference: 'trigger', holdSeconds });
}

/** A number that no other category has, so that no real category changes. */
function chooseCategory(): bigint {
  return crypto.getRandomValues(new BigInt64Array(1))[0] ?? 0n;
}
