import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatRequest, openRaw } from '../support/raw-http.ts';
import { ownPage, startConsole } from './console-browser.ts';

const secret = 's'.repeat(32);
const settings = {
  CONSOLE_USER_HEADER: 'X-Forwarded-User',
  CONSOLE_USER_PEERS: '127.0.0.1',
  CONSOLE_USER_SECRET: secret,
};
const shared = await startConsole({ after }, settings);
await shared.store.operators.add('mira@example.com', 'admin');
const person = { 'x-forwarded-user': 'mira@example.com', 'x-console-secret': secret };

async function call(path: string, init: RequestInit, service = shared) {
  const answer = await fetch(`${service.consoleUrl}/api${path}`, init);
  const body = answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
  return { status: answer.status, ...body };
}

test('a person whom the proxy names is signed in with the role of the operator', async () => {
  const { status, ...session } = await call('/session', { headers: person });
  const { name, role } = session as Record<string, unknown>;
  assert.deepEqual([status, name, role], [200, 'mira@example.com', 'admin']);
});

test('a name without the secret of the proxy is ignored', async () => {
  for (const wrong of [undefined, 't'.repeat(32), `${secret}s`]) {
    const headers = { ...person, 'x-console-secret': wrong ?? '' };
    assert.equal((await call('/session', { headers })).status, 401);
  }
});

test('a name from a peer that is not listed is ignored', async (t) => {
  const service = await startConsole(t, { ...settings, CONSOLE_USER_PEERS: '10.0.0.0/8' });
  await service.store.operators.add('mira@example.com', 'admin');
  assert.equal((await call('/session', { headers: person }, service)).status, 401);
});

test('without the settings, the header is ignored', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira@example.com', 'admin');
  assert.equal((await call('/session', { headers: person }, service)).status, 401);
});

test('a name that is not an operator has no role', async () => {
  const headers = { ...person, 'x-forwarded-user': 'eve@example.com' };
  const { status, ...body } = await call('/session', { headers });
  assert.deepEqual([status, (body as { code?: string }).code], [403, 'role_missing']);
});

test('a request is refused if its operator is removed before its body is complete', async (t) => {
  const { app, store } = shared;
  await store.operators.add('rita', 'admin');
  const connection = await openRaw(t, app.opsUrl);
  const body = '{"account":"Zoo","plan":"free"}';
  const headers = {
    ...{ ...ownPage, ...person, 'x-forwarded-user': 'rita' },
    host: new URL(app.opsUrl).host,
    expect: '100-continue',
    'content-type': 'application/json',
    'content-length': `${body.length}`,
  };
  connection.send(formatRequest('POST /console/api/accounts', headers));
  assert.equal((await connection.read()).status, 100);
  await store.operators.remove('rita');
  connection.send(body);
  assert.equal((await connection.read()).status, 403);
  assert.deepEqual(await store.accounts.list(), []);
});

test('a change in the name of the person must come from a page of the console', async () => {
  await shared.importPets(1);
  const remove = (headers: Record<string, string>) =>
    call('/pets/1', { method: 'DELETE', headers: { ...person, ...headers } });
  assert.equal((await remove({ 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await remove(ownPage)).status, 204);
});

test('the audit log names the person', async () => {
  const { items } = await shared.store.audit.list({ limit: 1, newestId: null, action: 'pet.deleted' });
  assert.equal(items[0]?.actor.name, 'mira@example.com in proxy');
});

test('the header gives nothing in the API', async () => {
  const answer = await fetch(`${shared.app.opsUrl}/ops/v1/session`, { headers: person });
  assert.equal(answer.status, 401);
});
