import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { countStatuses } from '../support/expect-error.ts';
import {
  amplePlan,
  ask,
  elementAt,
  type Instances,
  startInstances,
  untilAnswered,
} from '../support/instances.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

/** Time in ms within which a revocation, a plan and a suspension take effect on all instances (contract section 16). */
const effectiveMsMax = 5_000;

/** Signs in to the console of one instance with the link from a command. Returns a function that calls the API. */
async function signIn({ command }: Instances, { opsUrl }: ServiceProcess) {
  const { url } = await command<{ url: string }>('console');
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const body = JSON.stringify({ token: url.split('#sign-in=')[1] });
  const post = (path: string, init: RequestInit) =>
    fetch(`${opsUrl}/console/api${path}`, { method: 'POST', ...init });
  const signedIn = await post('/sign-in', { headers, body });
  const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  return (path: string) => post(path, { headers: { ...headers, cookie } });
}

async function untilAll({ services }: Instances, key: string, status: number): Promise<void> {
  for (const service of services)
    await untilAnswered(service, key, (response) => response.status === status, effectiveMsMax);
}

test('three instances behave like one service', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl });

  await t.test(
    'exactly 300 of 3,000 simultaneous requests pass on a Pro account, and the remaining counts have no gap or repeat',
    async () => {
      const pro = await instances.createKey('--plan', 'pro');
      const responses = await Promise.all(
        Array.from({ length: 3_000 }, () => ask(instances.next(), pro.key)),
      );
      assert.deepEqual(countStatuses(responses.map(({ status }) => status)), { 200: 300, 429: 2_700 });
      const passed = responses.filter(({ status }) => status === 200);
      const left = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      const expected = Array.from({ length: 300 }, (_, index) => 299 - index);
      const inOrder = left.toSorted((a, b) => b - a);
      assert.deepEqual(inOrder, expected);
    },
  );

  await t.test(
    'a new key works immediately at all instances, and a revocation takes effect within 5 s',
    async () => {
      const { id, key: shortLived } = await instances.createKey(...amplePlan);
      for (const service of instances.services) assert.equal((await ask(service, shortLived)).status, 200);
      await instances.command('keys', 'revoke', id);
      await untilAll(instances, shortLived, 401);
    },
  );

  await t.test('a change of plan takes effect on all instances within 5 s', async () => {
    const { key: changed, account } = await instances.createKey('--plan', 'pro');
    for (const service of instances.services)
      assert.match((await ask(service, changed)).headers.get('ratelimit-policy') ?? '', /q=300;/);
    await instances.command('accounts', 'set-plan', account, '--plan', 'business');
    const isBusiness = ({ headers }: Response) => /q=1000;/.test(headers.get('ratelimit-policy') ?? '');
    await Promise.all(
      instances.services.map((service) => untilAnswered(service, changed, isBusiness, effectiveMsMax)),
    );
  });

  const { account, key } = await instances.createKey(...amplePlan, '--account', 'Happy Paws');
  const { key: others } = await instances.createKey(...amplePlan, '--account', 'Acme Zoo');
  const callConsole = await signIn(instances, elementAt(instances.services, 0));
  const byCommand = (act: string) => instances.command('accounts', act, account);
  const byConsole = async (act: string) => {
    const answer = await callConsole(`/accounts/${encodeURIComponent(account)}/${act}`);
    assert.equal(answer.status, 204);
  };

  for (const [by, act] of [
    ['by command', byCommand],
    ['by the console of one of them', byConsole],
  ] as const)
    await t.test(
      `a suspension ${by} takes effect everywhere within 5 s, and other accounts are still served`,
      async () => {
        await untilAll(instances, key, 200);
        await act('suspend');
        await untilAll(instances, key, 403);
        for (const service of instances.services) {
          const refused = await ask(service, key);
          const { code } = (await refused.json()) as { code: string };
          assert.deepEqual([refused.status, code], [403, 'account_suspended']);
          assert.equal((await ask(service, others)).status, 200);
        }
        await act('resume');
        await untilAll(instances, key, 200);
      },
    );
});
