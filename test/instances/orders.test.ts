import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireInvariants } from '../../torture/invariants.ts';
import { findPostgres, sqliteEngine } from '../support/engines.ts';
import {
  add,
  amplePlan,
  ask,
  elementAt,
  type Instances,
  readJson,
  startInstances,
} from '../support/instances.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

const animals = 100;
const buyersOfEach = 50;
/** Number of animals that all buyers order at the same time. */
const animalsAtOnce = 20;
const raced = 12;

interface Shown {
  readonly id: number;
  readonly status?: string;
  readonly code?: string;
}

const act = (instances: Instances, key: string, path: string, body?: object) =>
  ask(instances.next(), key, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Orders an animal. Retries a 503, because an instance that is too busy has not placed the order. */
async function order(instances: Instances, key: string, petId: number): Promise<Response> {
  for (;;) {
    const answer = await act(instances, key, '/orders', { petId });
    if (answer.status !== 503) return answer;
    await answer.text();
  }
}

async function addAnimals(instances: Instances, key: string, count: number): Promise<number[]> {
  const adding = Array.from({ length: count }, (_, n) =>
    readJson<Shown>(add(elementAt(instances.services, n % instances.services.length), key, `animal ${n}`)),
  );
  return (await Promise.all(adding)).map(({ id }) => id);
}

/** Lets 5 buyers order every animal at the same time at all instances. */
async function sellOut(instances: Instances): Promise<void> {
  const made = await Promise.all(
    Array.from({ length: 5 }, () => instances.createKey(...amplePlan, '--open-holds', '1000')),
  );
  const keys = made.map(({ key }) => key);
  const pets = await addAnimals(instances, elementAt(keys, 0), animals);
  const answers: Response[] = [];
  for (let from = 0; from < animals; from += animalsAtOnce) {
    const wanted = Array.from({ length: buyersOfEach }, () => pets.slice(from, from + animalsAtOnce)).flat();
    const asked = wanted.map((petId, n) => order(instances, elementAt(keys, n % 5), petId));
    answers.push(...(await Promise.all(asked)));
  }
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, animals);
  assert.equal(statuses.filter((status) => status === 409).length, animals * (buyersOfEach - 1));
  await requireInvariants(async (sql) => (await instances.store.execute(sql)) as Record<string, unknown>[]);
}

/** Lets complete, cancel and the expiry of the hold compete at all instances. */
async function raceToClose(instances: Instances): Promise<void> {
  const { key } = await instances.createKey(...amplePlan);
  for (const petId of await addAnimals(instances, key, raced)) {
    const { id } = await readJson<Shown>(act(instances, key, '/orders', { petId }));
    const end = `update orders set expires_at_ms = created_at_ms + 1 where id = ${id} and status = 'reserved'`;
    const [completed, cancelled] = await Promise.all([
      act(instances, key, `/orders/${id}/complete`),
      act(instances, key, `/orders/${id}/cancel`),
      instances.store.execute(end),
    ]);
    const done = [completed, cancelled].filter(({ status }) => status === 200);
    const { status } = await readJson<Shown>(ask(instances.next(), key, `/orders/${id}`));
    assert.equal(done.length, status === 'expired' ? 0 : 1, String(status));
  }
  await requireInvariants(async (sql) => (await instances.store.execute(sql)) as Record<string, unknown>[]);
}

test('three instances over PostgreSQL sell each animal once', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl });
  await t.test('exactly one buyer gets each animal', () => sellOut(instances));
  await t.test('exactly one of concurrent complete, cancel and expiry succeeds', () =>
    raceToClose(instances),
  );
});

test('an instance over SQLite sells each animal once', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres: sqliteEngine, redisUrl, count: 1 });
  await t.test('exactly one buyer gets each animal', () => sellOut(instances));
  await t.test('exactly one of concurrent complete, cancel and expiry succeeds', () =>
    raceToClose(instances),
  );
});
