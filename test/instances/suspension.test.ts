import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import {
  amplePlan,
  ask,
  elementAt,
  type Instances,
  startInstances,
  untilAnswered,
} from '../support/instances.ts';
import type { ServiceProcess } from '../support/processes.ts';

const postgres = await findPostgres();

/** Time in ms within which suspend and resume take effect on all instances (contract section 16). */
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

test('suspend and resume take effect on every instance', { skip: postgres.skip }, async (t) => {
  const instances = await startInstances(t, { postgres, redisUrl: '' });
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
    await t.test(`a suspension ${by} takes effect, and other accounts are still served`, async () => {
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
    });
});
