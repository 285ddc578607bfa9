import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { expectError } from '../support/expect-error.ts';
import {
  add,
  amplePlan,
  ask,
  elementAt,
  readJson,
  startInstances,
  untilAnswered,
} from '../support/instances.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

interface Listed {
  readonly id: number;
  readonly name: string;
}

const revokeMsMax = 5_000;

/** Counts the answers by status. */
function countStatuses(responses: readonly Response[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test('three instances behave like one service', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl });
  const { key } = await instances.createKey(...amplePlan);

  await t.test(
    'exactly 300 of 3,000 simultaneous requests pass on a Pro account, and the remaining counts have no gap or repeat',
    async () => {
      const pro = await instances.createKey('--plan', 'pro');
      const responses = await Promise.all(
        Array.from({ length: 3_000 }, () => ask(instances.next(), pro.key)),
      );
      assert.deepEqual(countStatuses(responses), { 200: 300, 429: 2_700 });
      const passed = responses.filter(({ status }) => status === 200);
      const left = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      assert.deepEqual(
        left.toSorted((a, b) => b - a),
        Array.from({ length: 300 }, (_, index) => 299 - index),
      );
    },
  );

  await t.test('100 requests with one Idempotency-Key at all instances add one animal', async () => {
    const posts = Array.from({ length: 100 }, () => add(instances.next(), key, 'Rex', 'once'));
    const bodies = new Set<string>();
    for (const response of await Promise.all(posts))
      if (response.status === 409) await expectError(response, 409, 'idempotency_key_in_use');
      else {
        const body = await response.text();
        assert.equal(response.status, 201, body);
        bodies.add(body);
      }
    assert.equal(bodies.size, 1);
    const pets = await readJson<Listed[]>(ask(instances.next(), key, '/pets?limit=100'));
    assert.equal(pets.filter(({ name }) => name === 'Rex').length, 1);
  });

  await t.test('concurrent retries of a finished add all get its answer', async () => {
    const first = await add(instances.next(), key, 'Rex', 'finished');
    const body = await first.text();
    const repeats = Array.from({ length: 60 }, () => add(instances.next(), key, 'Rex', 'finished'));
    for (const response of await Promise.all(repeats)) {
      assert.equal(response.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual([response.status, await response.text()], [201, body]);
    }
  });

  await t.test(
    'pages that are read from changing instances have each animal once, even during adds',
    async () => {
      const adding = Array.from({ length: 50 }, (_, index) => add(instances.next(), key, `there ${index}`));
      const there = await Promise.all(adding.map((response) => readJson<Listed>(response)));
      let isWalking = true;
      const addMeanwhile = async () => {
        while (isWalking) assert.equal((await add(instances.next(), key, 'meanwhile')).status, 201);
      };
      const others = addMeanwhile();
      const met: number[] = [];
      for (let path: string | undefined = '/pets?limit=3'; path !== undefined; ) {
        const response = await ask(instances.next(), key, path);
        met.push(...(await readJson<Listed[]>(response)).map(({ id }) => id));
        path = /^<\/v1(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
      }
      isWalking = false;
      await others;
      assert.equal(new Set(met).size, met.length);
      assert.deepEqual(
        there.filter(({ id }) => !met.includes(id)),
        [],
      );
    },
  );

  await t.test(
    'a new key works immediately at all instances, and a revocation takes effect within 5 s',
    async () => {
      const { id, key: shortLived } = await instances.createKey(...amplePlan);
      for (const service of instances.services) assert.equal((await ask(service, shortLived)).status, 200);
      await instances.command('keys', 'revoke', id);
      await Promise.all(
        instances.services.map((service) =>
          untilAnswered(service, shortLived, ({ status }) => status === 401, revokeMsMax),
        ),
      );
    },
  );

  await t.test('a change of plan takes effect on all instances within 5 s', async () => {
    const { key: changed, account } = await instances.createKey('--plan', 'pro');
    for (const service of instances.services)
      assert.match((await ask(service, changed)).headers.get('ratelimit-policy') ?? '', /q=300;/);
    await instances.command('accounts', 'set-plan', account, '--plan', 'business');
    const isBusiness = ({ headers }: Response) => /q=1000;/.test(headers.get('ratelimit-policy') ?? '');
    await Promise.all(
      instances.services.map((service) => untilAnswered(service, changed, isBusiness, revokeMsMax)),
    );
  });

  await t.test('a ban by one instance applies at all instances', async () => {
    const { key: banned } = await instances.createKey('--plan', 'free');
    const first = elementAt(instances.services, 0);
    await Promise.all(Array.from({ length: 120 }, () => ask(first, banned)));
    for (const service of instances.services)
      await expectError(await ask(service, banned), 429, 'key_banned');
  });
});

test('ten instances that start at once on an empty database all start', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const { services } = await startInstances(t, { postgres, redisUrl, count: 10 });
  for (const { opsUrl } of services)
    assert.deepEqual(await readJson(fetch(`${opsUrl}/readyz`)), { status: 'ready' });
});
