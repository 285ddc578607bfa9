import { everyAccount, type Orders } from '../orders/orders.ts';
import type { Catalogue } from '../pets/catalogue.ts';

interface Rooms {
  readonly orders: Pick<Orders, 'get'>;
  readonly catalogue: Pick<Catalogue, 'get'>;
}

/** Returns an order of any account with its animal, null if that is deleted. Throws `not_found`. */
export async function readOrderDetails({ orders, catalogue }: Rooms, id: bigint) {
  const order = await orders.get(id, everyAccount);
  return { order, pet: await catalogue.get(order.petId) };
}
