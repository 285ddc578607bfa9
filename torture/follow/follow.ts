import { createRandom } from '../random.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { beginMirror, type Mirror } from './mirror.ts';
import { change } from './writers.ts';

const seedsAtFullScale = 20;
const writers = 4;
const requests = 250;
const killsARound = 3;

/** The result of one seed. */
interface Round {
  readonly events: number;
  readonly objects: number;
}

export const follow: Scenario = {
  name: 'follow',
  title: 'three instances are killed one after the other while a follower copies the changes of four writers',
  minutes: 30,
  async run(context) {
    const seeds = Math.max(1, Math.round(seedsAtFullScale * context.scale));
    const rounds: Round[] = [];
    for (let seed = context.seed; rounds.length < seeds; seed += 1) {
      rounds.push(await runSeed(context, seed));
      context.log(`seed ${seed}: ${rounds.at(-1)?.events} events`);
    }
    const events = rounds.reduce((sum, round) => sum + round.events, 0);
    return {
      done: `${killsARound} kills of one of three instances in each of ${seeds} runs, under ${writers} writers`,
      seen: 'Broken connections; the follower asked the next instance for the same page',
      lost: `None of ${events} events, and none came twice; each copy equalled its store at the end`,
      well: 'At once, at another instance',
      figures: { seeds, events },
    };
  },
};

async function runSeed(context: TortureContext, seed: number): Promise<Round> {
  const random = createRandom(seed);
  const fleet = await startFleet(context, random);
  // The store has data before the mirror begins.
  await change(fleet, createRandom(seed + 1_000_000), requests / 5);
  const mirror = await beginMirror(fleet);
  const [begin] = await readEvents(fleet, 'order by id desc limit 1');
  let isOver = false;
  const changes = Array.from({ length: writers }, (_, writer) =>
    change(fleet, createRandom(seed * writers + writer), requests),
  );
  const following = mirror.follow(() => isOver);
  for (let kill = 0; kill < killsARound; kill += 1) {
    await fleet.kill();
    await fleet.replace();
  }
  await Promise.all(changes);
  await untilSequenced(fleet);
  isOver = true;
  await following;
  await requireEqual(fleet, mirror);
  await requireWhole(fleet, mirror, begin ?? 0);
  await fleet.end();
  return { events: mirror.met.length, objects: mirror.objects.size };
}

export async function readEvents({ store }: Fleet, rest: string): Promise<number[]> {
  const rows = (await store.execute(`select id from events ${rest}`)) as { id: string }[];
  return rows.map(({ id }) => Number(id));
}

export async function untilSequenced({ store }: Fleet): Promise<void> {
  while ((await store.execute('select id from event_outbox limit 1')).length > 0);
}

/**
 * Requires that the copy equals the store. It has all animals, but only the orders and categories that changed after
 * the copy began.
 */
export async function requireEqual({ store }: Fleet, { objects }: Mirror): Promise<void> {
  const rows = (await store.execute(`
    select 'pet ' || id as key, name || ' ' || category_id || ' ' || status as text from pets
    union all select 'order ' || id, status from orders
    union all select 'category ' || id, name from categories`)) as { key: string; text: string }[];
  const stored = new Map(rows.map(({ key, text }) => [key, text]));
  for (const [key, json] of objects) {
    const { name, categoryId, status } = JSON.parse(json) as Record<string, unknown>;
    const text = key.startsWith('pet ') ? `${name} ${categoryId} ${status}` : (status ?? name);
    if (stored.get(key) !== text) throw new Error(`${key} is ${stored.get(key)}, and ${text} in the copy`);
  }
  for (const key of stored.keys())
    if (key.startsWith('pet ') && !objects.has(key)) throw new Error(`${key} is not in the copy`);
}

/** Requires that no event was repeated, missed or out of order. */
export async function requireWhole(fleet: Fleet, { met }: Mirror, begin: number): Promise<void> {
  if (new Set(met).size !== met.length) throw new Error('an event was received twice');
  if (met.join() !== met.toSorted().join()) throw new Error('events were received out of order');
  const since = await readEvents(fleet, `where id > ${begin}`);
  if (since.length > met.length) throw new Error(`${since.length} events came, and ${met.length} were met`);
}
