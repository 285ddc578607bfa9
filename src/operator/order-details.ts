import type { EventIds } from '../events/event-ids.ts';
import { listOrderEvents } from '../events/order-events.ts';
import { everyAccount, type Orders } from '../orders/orders.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { Database } from '../storage/database.ts';

interface Rooms {
  readonly orders: Pick<Orders, 'get'>;
  readonly catalogue: Pick<Catalogue, 'get'>;
  readonly database: Database;
}

/**
 * Returns an order of any account with its animal, null if that is deleted, and its events of the last 30 days, oldest
 * first. Throws `not_found`.
 */
export async function readOrderDetails({ orders, catalogue, database }: Rooms, ids: EventIds, id: bigint) {
  const order = await orders.get(id, everyAccount);
  const reads = [catalogue.get(order.petId), listOrderEvents(database, ids, id)] as const;
  const [pet, events] = await Promise.all(reads);
  return { order, pet, events };
}
