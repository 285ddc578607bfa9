import { isDeepStrictEqual } from 'node:util';
import { type Fleet, startFleet } from '../follow/fleet.ts';
import { createRandom, type Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import {
  categories,
  createModel,
  type Model,
  pageSize,
  type Question,
  type ShownPet,
  statuses,
} from './model.ts';

const writesAtFullScale = 20_000;
/** A small number, so that most changes affect the requested pages. */
const animalsMax = 40;
const animalsMin = 20;
const cached = 'animal_store_cached_answers_total{source="memory"}';

export const freshness: Scenario = {
  name: 'freshness',
  title: 'after each change at one of three instances, the other two are read immediately',
  minutes: 30,
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await startFleet(context, random);
    const model = createModel();
    while (model.count() < animalsMin) await add(fleet, model, random);
    const { next } = await askFor(fleet, `/pets?limit=${pageSize}`);
    model.notePage(String(next));
    const writes = Math.max(1, Math.round(writesAtFullScale * context.scale));
    for (let write = 0; write < writes; write += 1) {
      const id = await writeOne(fleet, model, random);
      await check(fleet, random.between(0, 1) === 0 ? model.askForPet(id) : model.askForPage(random));
      await check(fleet, model.askForPage(random));
    }
    const fromCache = await fleet.sumMetric(cached);
    if (fromCache === 0) throw new Error('no answer came from a cache');
    await fleet.end();
    return {
      done: `${writes} additions, changes and deletions, each followed by two reads at the other instances`,
      seen: `Every answer matched the store; ${fromCache} came from a cache`,
      lost: 'Nothing',
      well: 'At once',
      figures: { writes, fromCache },
    };
  },
};

async function writeOne(fleet: Fleet, model: Model, random: Random): Promise<number> {
  if (model.count() <= animalsMin || (model.count() < animalsMax && random.between(1, 3) === 1))
    return add(fleet, model, random);
  const pet = model.choose(random);
  if (random.between(1, 3) === 1) {
    await askFor(fleet, `/pets/${pet.id}`, 204, { method: 'DELETE' });
    model.remove(pet.id);
    return pet.id;
  }
  const change = random.pick([
    { name: `n${random.between(1, 1_000)}` },
    { status: random.pick(statuses) },
    { categoryId: random.between(1, categories) },
  ]);
  const body = JSON.stringify(change);
  model.put(await askForPet(fleet, `/pets/${pet.id}`, 200, { method: 'PATCH', body }));
  return pet.id;
}

async function add(fleet: Fleet, model: Model, random: Random): Promise<number> {
  const categoryId = random.between(1, categories);
  const body = JSON.stringify({ name: 'new', categoryId, status: random.pick(statuses) });
  const pet = await askForPet(fleet, '/pets', 201, { method: 'POST', body });
  model.put(pet);
  return pet.id;
}

/** Throws if the answer of the next instance differs from the store. */
async function check(fleet: Fleet, { path, expected }: Question): Promise<void> {
  const { body } = await askFor(fleet, path, expected === null ? 404 : 200);
  if (expected === null || isDeepStrictEqual(JSON.parse(body), expected)) return;
  throw new Error(`GET ${path} was answered ${body}, but the store holds ${JSON.stringify(expected)}`);
}

async function askForPet(fleet: Fleet, ...request: [string, number, RequestInit]): Promise<ShownPet> {
  return JSON.parse((await askFor(fleet, ...request)).body) as ShownPet;
}

async function askFor(fleet: Fleet, path: string, status = 200, init: RequestInit = {}) {
  const answer = await fleet.ask(path, init);
  if (answer?.status === status) return answer;
  throw new Error(`${init.method ?? 'GET'} ${path} was answered ${answer?.status}: ${answer?.body}`);
}
