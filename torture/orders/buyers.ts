import type { Random } from '../random.ts';

/** What the clients know of an order from the answers. */
export interface KnownOrder {
  readonly id: string;
  /** The last answered status. */
  status: string;
  /** The status that an unanswered request, or the expiry of the hold, may have set. Null if neither applies. */
  asked: 'completed' | 'cancelled' | 'expired' | null;
}

/** A request for an order. Requests without an answer are sent again. */
export interface OpenOrder {
  readonly idempotencyKey: string;
  readonly body: string;
}

/** The orders and requests of all buyers. */
export interface Bought {
  readonly orders: Map<string, KnownOrder>;
  readonly open: OpenOrder[];
  answers: number;
}

interface Address {
  readonly url: string;
  readonly key: string;
}

/** Sends a request. Returns null if the service was killed before it answered. */
async function post({ url, key }: Address, path: string, body?: string, idempotencyKey?: string) {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body }),
    });
    return { status: response.status, body: await response.text() };
  } catch {
    return null;
  }
}

/**
 * Places an order under an Idempotency-Key and records it. Returns the order, null if it was refused, or undefined if
 * no answer came.
 */
async function place(address: Address, bought: Bought, order: OpenOrder) {
  const answer = await post(address, '/orders', order.body, order.idempotencyKey);
  if (answer === null) {
    bought.open.push(order);
    return undefined;
  }
  bought.answers += 1;
  if (answer.status === 409) return null;
  const id = /^\{"id":(\d+),.*"status":"reserved"/.exec(answer.body)?.[1];
  if (answer.status !== 201 || id === undefined)
    throw new Error(`an order was answered with ${answer.status} ${answer.body}`);
  const known = bought.orders.get(id) ?? { id, status: 'reserved', asked: null };
  bought.orders.set(id, known);
  return known;
}

async function close(address: Address, bought: Bought, order: KnownOrder, action: 'complete' | 'cancel') {
  const wanted = action === 'complete' ? 'completed' : 'cancelled';
  order.asked = wanted;
  const answer = await post(address, `/orders/${order.id}/${action}`);
  if (answer === null) return undefined;
  bought.answers += 1;
  const isDone = answer.status === 200 && answer.body.includes(`"status":"${wanted}"`);
  if (!isDone) throw new Error(`${action} of ${order.id} was answered with ${answer.status} ${answer.body}`);
  order.status = wanted;
  order.asked = null;
  return order;
}

/** Buys one animal after the other and cancels most orders, until the service is killed or the round ends. */
export async function buyUntilKilled(
  address: Address,
  bought: Bought,
  random: Random,
  names: { readonly pets: number; next(): string; isOver(): boolean },
): Promise<void> {
  while (!names.isOver()) {
    const body = `{"petId":${random.between(1, names.pets)}}`;
    const order = await place(address, bought, { idempotencyKey: names.next(), body });
    if (order === undefined) return;
    if (order === null || random.next() < 0.1) continue;
    const action = random.next() < 0.2 ? 'complete' : 'cancel';
    if ((await close(address, bought, order, action)) === undefined) return;
  }
}

/** Repeats the orders without an answer. Returns their number. */
export async function sendAgain(address: Address, bought: Bought): Promise<number> {
  const open = bought.open.splice(0);
  for (const order of open)
    if ((await place(address, bought, order)) === undefined) throw new Error('the service does not answer');
  return open.length;
}
