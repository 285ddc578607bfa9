import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from './services.ts';

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: number };
}

/** Selects events without a position, and overdue holds that a service is about to close. */
const unfinished = `select id from event_outbox
  union all select id from orders where status = 'reserved' and expires_at_ms < created_at_ms + 1000 limit 1`;

/** A copy of the store, built only from its pages and its events. */
interface Mirror {
  /** The ids of all received events, in order. */
  readonly met: readonly string[];
  /** Follows the events to their end. Throws if one was missed, repeated or out of order, or if the copy differs. */
  end(): Promise<void>;
}

/**
 * Begins a copy as docs/events.md describes: reads the current end of the feed, then all animals, then the events.
 * Each request goes to the next service.
 */
export async function beginMirror(services: Services): Promise<Mirror> {
  const { query } = services.store;
  const objects = new Map<string, string>();
  const met: string[] = [];
  const [begin] = await query('select max(id) as id from events');
  let next = (await read('/events?after=now&limit=50&wait=1')).next;
  for (let page: string | null = '/pets?limit=20'; page !== null; ) {
    const answer = await read(page);
    for (const pet of JSON.parse(answer.body) as { id: number }[])
      objects.set(`pet ${pet.id}`, JSON.stringify(pet));
    page = answer.next;
  }
  let isOver = false;
  const following = follow();
  following.catch(() => {});

  async function read(path: string) {
    const answer = await services.insist(path);
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status} ${answer.body}`);
    return answer;
  }

  async function follow(): Promise<void> {
    for (;;) {
      const wasOver = isOver;
      const answer = await read(next ?? '');
      const events = JSON.parse(answer.body) as Shown[];
      for (const { id, type, data } of events) {
        met.push(id);
        const [kind = '', what] = type.split('.');
        if (what === 'deleted') objects.delete(`${kind} ${data.id}`);
        else objects.set(`${kind} ${data.id}`, JSON.stringify(data));
      }
      next = answer.next;
      if (wasOver && events.length === 0) return;
    }
  }

  /** Compares the copy with the store. It has all animals, but only the orders and categories that changed later. */
  async function requireEqual(): Promise<void> {
    const rows = await query(`
      select 'pet ' || id as key, name || ' ' || category_id || ' ' || status as text from pets
      union all select 'order ' || id, status from orders
      union all select 'category ' || id, name from categories`);
    const stored = new Map(rows.map(({ key, text }) => [String(key), text]));
    for (const [key, json] of objects) {
      const { name, categoryId, status } = JSON.parse(json) as Record<string, unknown>;
      const text = key.startsWith('pet ') ? `${name} ${categoryId} ${status}` : (status ?? name);
      if (stored.get(key) !== text) throw new Error(`${key} is ${stored.get(key)}, and ${text} in the copy`);
    }
    for (const key of stored.keys())
      if (key.startsWith('pet ') && !objects.has(key)) throw new Error(`${key} is not in the copy`);
  }

  return {
    met,
    async end() {
      while ((await query(unfinished)).length > 0) await pause(20);
      isOver = true;
      await following;
      if (new Set(met).size !== met.length) throw new Error('an event was received twice');
      if (met.join() !== met.toSorted().join()) throw new Error('events were received out of order');
      const since = await query(`select id from events where id > ${begin?.['id'] ?? 0}`);
      if (since.length > met.length)
        throw new Error(`${since.length} events came, and ${met.length} were met`);
      await requireEqual();
    },
  };
}
