import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../follow/fleet.ts';
import type { Random } from '../random.ts';

/** A request under an Idempotency-Key, and its first answer. */
interface Sent {
  readonly path: '/pets' | '/orders';
  readonly body: string;
  readonly answer: string;
}

const pauseMs = 20;
const petOf = (body: string) => /"id":(\d+)/.exec(body)?.[1] ?? '';

/**
 * Creates writers that add an animal and order it, again and again, each request under its own key. They repeat a
 * request at the next instance until it is answered.
 */
export function createWriters(fleet: Fleet, random: Random) {
  const sent = new Map<string, Sent>();
  let failure: unknown;
  let isOver = false;

  /** Sends a request until it gets 201. Throws for any other answer but 503, and 409 of a request that still runs. */
  async function insist(path: Sent['path'], body: string, key: string): Promise<string> {
    for (;;) {
      const answer = await fleet.ask(path, { method: 'POST', body, headers: { 'idempotency-key': key } });
      if (answer?.status === 201) return answer.body;
      const mayRepeat =
        answer === null || answer.status === 503 || answer.body.includes('idempotency_key_in_use');
      if (!mayRepeat) throw new Error(`${path} ${body} was answered with ${answer.status} ${answer.body}`);
      await pause(pauseMs);
    }
  }

  async function send(path: Sent['path'], body: string, key: string): Promise<string> {
    const answer = await insist(path, body, key);
    sent.set(key, { path, body, answer });
    return answer;
  }

  return {
    async write(_: unknown, writer: number): Promise<void> {
      try {
        for (let round = 0; !isOver; round += 1) {
          const name = `${writer}-${round}`;
          const pet = await send('/pets', JSON.stringify({ name, categoryId: 1 }), name);
          if (random.next() < 0.5) await send('/orders', `{"petId":${petOf(pet)}}`, `order-${name}`);
        }
      } catch (error) {
        failure ??= error;
      }
    },
    /** Resolves when `count` more requests have been answered. */
    async untilAnswered(count: number): Promise<void> {
      for (const goal = sent.size + count; sent.size < goal && failure === undefined; ) await pause(pauseMs);
      if (failure !== undefined) throw failure;
    },
    stop() {
      isOver = true;
    },
    countAnswered: () => sent.size,
    /** Requires that each answer is in the store under an id of its own, and that a retry gets it again. */
    async requireKept(): Promise<void> {
      if (failure !== undefined) throw failure;
      for (const path of ['/pets', '/orders'] as const) {
        const ids = [...sent.values()].filter((one) => one.path === path).map(({ answer }) => petOf(answer));
        if (new Set(ids).size !== ids.length) throw new Error(`an id of ${path} was answered twice`);
        const rows = (await fleet.store.execute(`select id from ${path.slice(1)}`)) as { id: string }[];
        const stored = new Set(rows.map(({ id }) => String(id)));
        const lost = ids.filter((id) => !stored.has(id));
        if (lost.length > 0) throw new Error(`answered and lost in ${path}: ${lost.join()}`);
        if (stored.size !== ids.length)
          throw new Error(`${stored.size} of ${path} for ${ids.length} answers`);
      }
      for (const [key, { path, body, answer }] of sent)
        if ((await insist(path, body, key)) !== answer) throw new Error(`the retry of ${key} differs`);
    },
  };
}
