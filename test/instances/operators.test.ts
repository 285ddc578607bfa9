import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { elementAt, type Instances, startInstances } from '../support/instances.ts';
import { type ServiceProcess, until } from '../support/processes.ts';

const postgres = await findPostgres();
const { skip } = postgres;

/** Time in ms within which the removal of an operator takes effect on all instances (contract section 16). */
const effectiveMsMax = 5_000;

const fromPages = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

/** Exchanges the token of a link at one instance. */
function signIn({ opsUrl }: ServiceProcess, url: string): Promise<Response> {
  const body = JSON.stringify({ token: url.split('#sign-in=')[1] });
  return fetch(`${opsUrl}/console/api/sign-in`, { method: 'POST', headers: fromPages, body });
}

const makeLink = async ({ command }: Instances) =>
  (await command<{ url: string }>('console', '--as', 'mira')).url;

/** Signs `mira` in at one instance. Returns a function that gives the headers for a port, which is in the cookie's name. */
async function openSession(instances: Instances) {
  const signedIn = await signIn(elementAt(instances.services, 0), await makeLink(instances));
  const [, token] = /=([^;]+)/.exec(signedIn.headers.get('set-cookie') ?? '') ?? [];
  return ({ port }: URL) => ({ cookie: `animal_store_console_${port}=${token}` });
}

type ReadHeaders = (url: URL) => Readonly<Record<string, string>>;

/** Resolves when all instances answer with the status. Rejects after about `effectiveMsMax`. */
async function untilAll({ services }: Instances, path: string, readHeaders: ReadHeaders, status: number) {
  for (const { opsUrl } of services) {
    const headers = readHeaders(new URL(opsUrl));
    const ask = async () => (await fetch(`${opsUrl}${path}`, { headers })).status;
    await until(ask, (answered) => answered === status, effectiveMsMax);
  }
}

for (const [by, remove] of [
  ['by command', ({ command }) => command('operators', 'remove', 'mira')],
  [
    'at one instance',
    async ({ command, services }) => {
      await command('operators', 'add', 'omar', '--role', 'admin');
      const { token } = await command<{ token: string }>('operators', 'token', 'omar');
      const headers = { authorization: `Bearer ${token}` };
      const { opsUrl } = elementAt(services, 0);
      const { status } = await fetch(`${opsUrl}/ops/v1/operators/mira`, { method: 'DELETE', headers });
      assert.equal(status, 204);
    },
  ],
] as const satisfies readonly (readonly [string, (instances: Instances) => Promise<unknown>])[])
  test(`removing an operator ${by} ends its link, session and token on all instances within 5 s`, {
    skip,
  }, async (t) => {
    const instances = await startInstances(t, { postgres, count: 2 });
    const { command, services } = instances;
    await command('operators', 'add', 'mira', '--role', 'admin');
    const { token } = await command<{ token: string }>('operators', 'token', 'mira');
    const byToken = () => ({ authorization: `Bearer ${token}` });
    const byCookie = await openSession(instances);
    const link = await makeLink(instances);
    await untilAll(instances, '/ops/v1/session', byToken, 200);
    await untilAll(instances, '/console/api/session', byCookie, 200);

    await remove(instances);
    await untilAll(instances, '/ops/v1/session', byToken, 401);
    await untilAll(instances, '/console/api/session', byCookie, 401);
    for (const service of services) assert.equal((await signIn(service, link)).status, 401);
  });
