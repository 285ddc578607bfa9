import { isDeepStrictEqual } from 'node:util';
import { readMetric } from '../../test/support/instances.ts';
import { createRandom, type Random } from '../random.ts';
import { type Scenario, share } from '../scenario.ts';
import { type Services, startServices } from '../services.ts';
import { createSharedStore } from '../store.ts';

const writesAtFullScale = 20_000;
/** A small number, so that most changes affect the requested pages. */
const animalsMax = 40;
const animalsMin = 20;
const pageSize = 5;
const categories = 3;
const statuses = ['available', 'pending', 'sold'];
const cached = 'animal_store_cached_answers_total{source="memory"}';

/** The path of an animal or a page, and the condition of its animals in SQL. */
type Question = readonly [path: string, where: string];

export const freshness: Scenario = {
  name: 'freshness',
  title: 'after each change at one of three instances, the other two are read immediately',
  minutes: 30,
  async run(context) {
    const random = createRandom(context.seed);
    const services = await startServices(context, random, await createSharedStore(context), 3);
    const ids: number[] = [];
    while (ids.length < animalsMin) await add(services, ids, random);
    const { next } = await ask(services, 200, `/pets?limit=${pageSize}`);
    const second: Question = [String(next), `id < ${ids.at(-pageSize)}`];
    const writes = share(writesAtFullScale, context);
    for (let write = 0; write < writes; write += 1) {
      const id = await writeOne(services, ids, random);
      const pages = listPages(random);
      await check(services, random.pick([[`/pets/${id}`, `id = ${id}`], ...pages, second]));
      await check(services, random.pick([...pages, second]));
    }
    const counts = await Promise.all(services.all.map((service) => readMetric(service, cached)));
    const fromCache = counts.reduce((sum, count) => sum + count, 0);
    if (fromCache === 0) throw new Error('no answer came from a cache');
    await services.end();
    return {
      done: `${writes} additions, changes and deletions, each followed by two reads at the other instances`,
      seen: `Every answer matched the store; ${fromCache} came from a cache`,
      lost: 'Nothing',
      well: 'At once',
    };
  },
};

async function add(services: Services, ids: number[], random: Random): Promise<number> {
  const body = { name: 'new', categoryId: random.between(1, categories), status: random.pick(statuses) };
  const added = await ask(services, 201, '/pets', { method: 'POST', body: JSON.stringify(body) });
  const { id } = JSON.parse(added.body) as { id: number };
  ids.push(id);
  return id;
}

/** Adds, changes or deletes an animal. Returns its id. */
async function writeOne(services: Services, ids: number[], random: Random): Promise<number> {
  if (ids.length <= animalsMin || (ids.length < animalsMax && random.between(1, 3) === 1))
    return add(services, ids, random);
  const id = random.pick(ids);
  if (random.between(1, 3) === 1) {
    await ask(services, 204, `/pets/${id}`, { method: 'DELETE' });
    ids.splice(ids.indexOf(id), 1);
    return id;
  }
  const change = random.pick([
    { name: `n${random.between(1, 1_000)}` },
    { status: random.pick(statuses) },
    { categoryId: random.between(1, categories) },
  ]);
  await ask(services, 200, `/pets/${id}`, { method: 'PATCH', body: JSON.stringify(change) });
  return id;
}

function listPages(random: Random): readonly Question[] {
  const [status, categoryId] = [random.pick(statuses), random.between(1, categories)];
  return [
    [`/pets?limit=${pageSize}`, 'true'],
    [`/pets?limit=${pageSize}&status=${status}`, `status = '${status}'`],
    [`/pets?limit=${pageSize}&categoryId=${categoryId}`, `category_id = ${categoryId}`],
  ];
}

/** Throws if the answer of the next instance differs from the store. Nothing else changes the store at this moment. */
async function check(services: Services, [path, where]: Question): Promise<void> {
  const rows = await services.store.query(`
    select id::int, name, category_id::int as "categoryId", status from pets where ${where}
    order by id desc limit ${pageSize}`);
  const isOne = !path.includes('?');
  const { body } = await ask(services, isOne && rows.length === 0 ? 404 : 200, path);
  const expected = isOne ? rows[0] : rows;
  if (expected === undefined || isDeepStrictEqual(JSON.parse(body), JSON.parse(JSON.stringify(expected))))
    return;
  throw new Error(`GET ${path} was answered ${body}, but the store has ${JSON.stringify(expected)}`);
}

async function ask(services: Services, status: number, path: string, init: RequestInit = {}) {
  const answer = await services.ask(path, init);
  if (answer?.status === status) return answer;
  throw new Error(`${init.method ?? 'GET'} ${path} was answered ${answer?.status}: ${answer?.body}`);
}
