import assert from 'node:assert/strict';
import { requireInvariants } from '../../torture/invariants.ts';
import { findPostgres } from '../support/engines.ts';
import { countStatuses } from '../support/expect-error.ts';
import {
  add,
  amplePlan,
  elementAt,
  type Instances,
  readJson,
  send,
  startInstances,
} from '../support/instances.ts';
import { testsUnless } from '../support/programs.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

const animals = 100;
const buyersOfEach = 50;
/** Number of animals that all buyers order at the same time. */
const animalsAtOnce = 20;

/** Orders an animal. Retries a 503, because an instance that is too busy has not placed the order. */
async function order(instances: Instances, key: string, petId: number): Promise<number> {
  for (;;) {
    const { status } = await send(instances.next(), key, 'POST /orders', { petId });
    if (status !== 503) return status;
  }
}

async function addAnimals(instances: Instances, key: string, count: number): Promise<number[]> {
  const adding = Array.from({ length: count }, (_, n) =>
    readJson<{ id: number }>(add(instances.next(), key, `animal ${n}`)),
  );
  return (await Promise.all(adding)).map(({ id }) => id);
}

test('of many buyers at three instances over PostgreSQL, exactly one gets each animal', async (t) => {
  const instances = await startInstances(t, { postgres });
  const made = await Promise.all(
    Array.from({ length: 5 }, () => instances.createKey(...amplePlan, '--open-holds', '1000')),
  );
  const keys = made.map(({ key }) => key);
  const pets = await addAnimals(instances, elementAt(keys, 0), animals);
  const statuses: number[] = [];
  for (let from = 0; from < animals; from += animalsAtOnce) {
    const wanted = Array.from({ length: buyersOfEach }, () => pets.slice(from, from + animalsAtOnce)).flat();
    const asked = wanted.map((petId, n) => order(instances, elementAt(keys, n % 5), petId));
    statuses.push(...(await Promise.all(asked)));
  }
  assert.deepEqual(countStatuses(statuses), { 201: animals, 409: animals * (buyersOfEach - 1) });
  await requireInvariants(instances.store.execute);
});
