import type { Random } from '../random.ts';
import type { Fleet } from './fleet.ts';

const petStatuses = ['available', 'pending', 'sold'];

/**
 * Sends requests that change the store, one after the other. The service refuses many of them, and a killed instance
 * does not answer.
 */
export async function change(fleet: Fleet, random: Random, requests: number): Promise<void> {
  const send = (method: string, path: string, body?: object) =>
    fleet.ask(path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const pet = () => `/pets/${random.between(1, 40)}`;
  const order = () => `/orders/${random.between(1, 40)}`;
  const name = () => `n${random.between(1, 1_000)}`;
  const acts = [
    () => send('POST', '/pets', { name: name(), categoryId: random.between(1, 5) }),
    () => send('POST', '/pets', { name: name(), categoryId: random.between(1, 5) }),
    () => send('PATCH', pet(), { name: name() }),
    () => send('PATCH', pet(), { status: random.pick(petStatuses) }),
    () => send('DELETE', pet()),
    () => send('PUT', `/categories/${random.between(1, 5)}`, { name: name() }),
    () => send('DELETE', `/categories/${random.between(1, 5)}`),
    () => send('POST', '/orders', { petId: random.between(1, 40) }),
    () => send('POST', '/orders', { petId: random.between(1, 40) }),
    () => send('POST', `${order()}/complete`),
    () => send('POST', `${order()}/cancel`),
    () => send('POST', `${order()}/return`),
  ];
  for (let count = 0; count < requests; count += 1) {
    const answer = await random.pick(acts)();
    // An instance may lose its database connection while it is killed, and answer 503.
    if (answer !== null && answer.status >= 500 && answer.status !== 503)
      throw new Error(`a change was answered with ${answer.status} ${answer.body}`);
  }
}
