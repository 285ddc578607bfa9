import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { Services } from './services.ts';

/** A request with an Idempotency-Key, and its first answer. */
export interface Sent {
  readonly path: string;
  readonly body: string;
  readonly answer: string;
}

const tails = ['Rex', 'Zoë', '🐈‍⬛ "Mo" \\ Jr.', '小花', 'O’Hara </script>', ' two  blanks '];
/** Animals that any writer may order, so that orders compete. */
const offeredMax = 20;
const waitMs = 10;

/** Names of animals that are added with an Idempotency-Key begin so. */
export const keyedPrefix = 'keyed';

/**
 * Creates clients that add, change, order and delete animals, and a judge that compares the store with the answers.
 * A client repeats a request until it is answered.
 */
export function createWriters(services: Services, random: Random) {
  /** By kind and id, `pets 7`: the name and category of an animal or the status of an order. Null if it was deleted. */
  const states = new Map<string, string | null>();
  const sent = new Map<string, Sent>();
  /** The names and categories of animals that were sent once, without a key, and got no answer. */
  const unanswered = new Set<string>();
  let answered = 0;
  let offered: readonly string[] = [];
  let number = 0;
  let repeated = 0;
  let isOver = false;
  let failure: unknown;
  let working: Promise<unknown> = Promise.resolve();

  /** Returns the body of the answer, or null if the status is one of `refusals`. Throws for any other failure. */
  async function send(
    [method, path]: readonly [string, string],
    refusals: readonly number[] = [],
    body = '',
    key?: string,
  ): Promise<string | null> {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const init = { method, headers, ...(body !== '' && { body }) };
    const { status, body: answer, repeats } = await services.insist(path, init);
    answered += 1;
    if (repeats > 0) repeated += 1;
    if (refusals.includes(status)) return null;
    // The first DELETE may have been done, and its answer lost.
    if (method === 'DELETE' && status === 404 && repeats > 0) return '';
    if (status >= 300) throw new Error(`${method} ${path} ${body} was answered with ${status} ${answer}`);
    if (key !== undefined) sent.set(key, { path, body, answer });
    return answer;
  }

  function note(kind: 'pets' | 'orders', answer: string, state: string): string {
    const id = /^\{"id":(\d+),/.exec(answer)?.[1] ?? '';
    if (id === '' || states.has(`${kind} ${id}`)) throw new Error(`${answer} has no id of its own`);
    states.set(`${kind} ${id}`, state);
    return id;
  }

  async function add(name: string, categoryId: number): Promise<string | null> {
    const body = JSON.stringify({ name, categoryId });
    if (name.startsWith(keyedPrefix)) {
      const answer = await send(['POST', '/pets'], [], body, name.split(' ')[0]);
      if (!answer?.includes(body.slice(1, -1))) throw new Error(`${body} was answered with ${answer}`);
      return note('pets', answer, `${name} ${categoryId}`);
    }
    const answer = await services.ask('/pets', { method: 'POST', body });
    if (answer?.status === 201) {
      answered += 1;
      return note('pets', answer.body, `${name} ${categoryId}`);
    }
    if (answer !== null && answer.status !== 503)
      throw new Error(`${body} was answered with ${answer.status} ${answer.body}`);
    unanswered.add(`${name} ${categoryId}`);
    return null;
  }

  /** Orders an animal of any writer. Leaves some orders open, and completes or cancels the others. */
  async function order(key: string): Promise<void> {
    const body = JSON.stringify({ petId: Number(random.pick(offered)), holdSeconds: 86_400 });
    const placed = await send(['POST', '/orders'], [404, 409], body, key);
    if (placed === null) return;
    const id = note('orders', placed, 'reserved');
    if (random.next() < 0.1) return;
    const [action, status] = random.next() < 0.2 ? ['complete', 'completed'] : ['cancel', 'cancelled'];
    const closed = await send(['POST', `/orders/${id}/${action}`]);
    if (!closed?.includes(`"status":"${status}"`)) throw new Error(`${action} was answered with ${closed}`);
    states.set(`orders ${id}`, status);
  }

  async function writeOne(): Promise<void> {
    const key = `${random.next() < 0.7 ? keyedPrefix : 'plain'}-${number++}`;
    const categoryId = random.between(-1_000, 1_000);
    const id = await add(`${key} ${random.pick(tails)}`, categoryId);
    if (id === null) return;
    offered = [id, ...offered].slice(0, offeredMax);
    if (random.next() < 0.3) {
      await send(['PATCH', `/pets/${id}`], [], JSON.stringify({ name: `${key} changed` }));
      states.set(`pets ${id}`, `${key} changed ${categoryId}`);
    }
    if (random.next() < 0.6) await order(`order-${key}`);
    if (random.next() < 0.1)
      await send(['PUT', `/categories/${random.between(1, 5)}`], [], `{"name":"${key}"}`);
    if (random.next() < 0.1 && (await send(['DELETE', `/pets/${id}`], [409])) !== null)
      states.set(`pets ${id}`, null);
  }

  async function work(): Promise<void> {
    try {
      while (!isOver && failure === undefined) await writeOne();
    } catch (error) {
      failure ??= error;
    }
  }

  return {
    sent,
    countAnswered: () => answered,
    countRepeated: () => repeated,
    start(writers: number): void {
      isOver = false;
      working = Promise.all(Array.from({ length: writers }, work));
    },
    /** Resolves when `count` more requests have been answered. */
    async untilAnswered(count: number): Promise<void> {
      for (const goal = answered + count; answered < goal && failure === undefined; ) await pause(waitMs);
      if (failure !== undefined) throw failure;
    },
    /** Resolves when each running request is answered. Throws if an answer was wrong. */
    async stop(): Promise<void> {
      isOver = true;
      await working;
      if (failure !== undefined) throw failure;
    },
    /** Expires about half of the open holds, while the writers are stopped. The services close them later. */
    async endSomeHolds(): Promise<void> {
      const held = [...states].filter(([, state]) => state === 'reserved' && random.next() < 0.5);
      if (held.length === 0) return;
      const ids = held.map(([object]) => object.split(' ')[1]).join(', ');
      await services.store.query(`update orders set expires_at_ms = created_at_ms + 1 where id in (${ids})`);
      for (const [object] of held) states.set(object, 'ended');
    },
    /** Requires, while the writers are stopped, that the store has exactly what was answered. */
    async requireKept(): Promise<void> {
      const rows = await services.store.query(`
        select 'pets ' || id as object, name || ' ' || category_id as state from pets
        union all select 'orders ' || id, status from orders`);
      const stored = new Map(rows.map(({ object, state }) => [String(object), String(state)]));
      for (const [object, state] of states) {
        const found = stored.get(object) ?? null;
        stored.delete(object);
        const isEnded = state === 'ended' && (found === 'reserved' || found === 'expired');
        if (found !== state && !isEnded)
          throw new Error(`${object} was answered as ${state} and is ${found}`);
      }
      for (const [object, state] of stored) {
        if (!unanswered.delete(state))
          throw new Error(`nobody knows ${object} (${state}), which the store has`);
        states.set(object, state);
      }
    },
    /** Requires that the last `count` requests with a key get their first answers again. */
    async requireReplayed(count: number): Promise<void> {
      for (const [key, { path, body, answer }] of [...sent].slice(-count)) {
        const init = { method: 'POST', body, headers: { 'idempotency-key': key } };
        const { body: again } = await services.insist(path, init);
        if (again !== answer) throw new Error(`${key} was answered with ${answer}, and then with ${again}`);
      }
    },
  };
}

export type Writers = ReturnType<typeof createWriters>;
