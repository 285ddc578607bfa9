import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { dayMs, hourMs } from '../../src/clock.ts';
import { operatorCodes } from '../../src/errors.ts';
import { wrongTokensMax } from '../../src/operator/console/token-gate.ts';
import { makePlan } from '../accounts/world.ts';
import { startConsole } from './console-browser.ts';

const shared = await startConsole({ after });
await shared.store.operators.add('mira', 'admin');

type Service = typeof shared;

/** Sends a request to the operator's API. */
function send({ app }: Service, token: string | null, path: string, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  if (init.body !== undefined) headers.set('content-type', 'application/json');
  return fetch(`${app.opsUrl}/ops/v1${path}`, { ...init, headers });
}

async function expectError(answer: Response, status: number, code: string): Promise<void> {
  const body = (await answer.json()) as Record<string, unknown>;
  assert.deepEqual(
    [answer.status, Object.keys(body), body['code']],
    [status, ['code', 'message', 'status'], code],
  );
}

const makeToken = async (service: Service) => (await service.sessions.makeToken('mira')).token;

test('an operation changes the store and is in the audit log with the name and the token', async () => {
  const { id, token } = await shared.sessions.makeToken('mira');
  const body = JSON.stringify({ account: 'Zoo', plan: 'free' });
  const answer = await send(shared, token, '/accounts', { method: 'POST', body });
  assert.deepEqual([answer.status, await answer.json()], [200, { account: 'Zoo' }]);
  const { items } = await shared.store.audit.list({ limit: 1, newestId: null, action: 'account.created' });
  assert.deepEqual(items[0]?.actor, { kind: 'console', name: `mira in ${id}` });
});

test('the days of all accounts come in pages', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira', 'reader');
  const token = await makeToken(service);
  await service.store.accounts.create('Zoo', makePlan('free'));
  service.openFile().exec(`with recursive days(n) as (select 0 union all select n + 1 from days where n < 54)
    insert into usage_days select 1, n * ${dayMs}, 9, 2, 1 from days`);
  const read = async (path: string) =>
    (await (await send(service, token, path)).json()) as { items: object[]; next: string | null };
  const first = await read('/usage/days');
  assert.deepEqual(first.items[0], { day: '1970-02-24', account: 'Zoo', requests: 9, refused: 2, errors: 1 });
  const second = await read(`/usage/days?before=${first.next}`);
  assert.deepEqual([first.items.length, second.items.length, second.next], [50, 5, null]);
  assert.equal((await read('/usage/days?since=1970-02-01&until=1970-02-03')).items.length, 2);
});

test('a field of a body that an operation does not know is refused by its name', async () => {
  const token = await makeToken(shared);
  await shared.store.accounts.create('Misspelt', makePlan('pro'));
  const body = JSON.stringify({ perMinute: 800, untill: '2h' });
  const answer = await send(shared, token, '/accounts/Misspelt/limits', { method: 'PUT', body });
  assert.match(((await answer.clone().json()) as { message: string }).message, /untill is not a field/);
  await expectError(answer, 400, 'invalid_body');
});

test('an act without fields takes an empty body, and refuses a field', async () => {
  const token = await makeToken(shared);
  await shared.store.accounts.create('Late', makePlan('pro'));
  const suspend = (body: string) => send(shared, token, '/accounts/Late/suspend', { method: 'POST', body });
  const refused = await suspend('{"until":"2h"}');
  assert.match(((await refused.clone().json()) as { message: string }).message, /until is not a field/);
  await expectError(refused, 400, 'invalid_body');
  assert.equal((await shared.store.accounts.find('Late')).suspendedAtMs, null);
  assert.equal((await suspend('{}')).status, 204);
  assert.notEqual((await shared.store.accounts.find('Late')).suspendedAtMs, null);
});

test('a parameter of a query that an operation does not know is refused by its name', async () => {
  const answer = await send(shared, await makeToken(shared), '/requests?stat=404');
  assert.match(((await answer.clone().json()) as { message: string }).message, /stat is not a query param/);
  await expectError(answer, 400, 'invalid_parameter');
});

test('the only admin is not removed by the API', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira', 'admin');
  await service.store.operators.add('omar', 'support');
  const token = await makeToken(service);
  const remove = () => send(service, token, '/operators/mira', { method: 'DELETE' });
  await expectError(await remove(), 409, 'not_done');
  await service.store.operators.add('nina', 'admin');
  assert.equal((await remove()).status, 204);
});

test('the only admin is removed by a command', async (t) => {
  const { store } = await startConsole(t);
  await store.operators.add('mira', 'admin');
  await store.operators.remove('mira');
  assert.deepEqual(await store.operators.list(), []);
});

test('limits of an account take a duration and one number alone', async () => {
  const token = await makeToken(shared);
  await shared.store.accounts.create('Limited', makePlan('pro'));
  const set = (body: object) =>
    send(shared, token, '/accounts/Limited/limits', { method: 'PUT', body: JSON.stringify(body) });
  assert.equal((await set({ perMinute: 7, until: '2h' })).status, 204);
  const { limits, ownLimits } = await shared.store.accounts.find('Limited');
  const untilMs = shared.clock.now() + 2 * hourMs;
  assert.deepEqual([limits, ownLimits], [{ perMinute: 7, perDay: 10_000 }, { untilMs }]);
  await expectError(await set({ until: '2h' }), 400, 'invalid_body');
  await expectError(await set({ perDay: 1, until: 'soon' }), 400, 'invalid_body');
});

test('an int64 is a JSON integer with all its digits', async () => {
  const token = await makeToken(shared);
  const path = '/categories/9223372036854775807';
  await send(shared, token, path, { method: 'PUT', body: '{"name":"Dogs"}' });
  assert.match(
    await (await send(shared, token, '/categories')).text(),
    /"id":9223372036854775807,"name":"Dogs"/,
  );
});

test('the cookie of a session gives nothing in the API', async () => {
  const cookie = await shared.signIn('mira');
  await expectError(await send(shared, null, '/session', { headers: { cookie } }), 401, 'token_missing');
});

test('the token of a session or of an API key is no token of the API', async () => {
  const [, session = ''] = (await shared.signIn('mira')).split('=');
  await expectError(await send(shared, session, '/session'), 401, 'token_invalid');
  await expectError(await send(shared, await shared.createKey('pro'), '/session'), 401, 'token_invalid');
});

test('a token is no cookie of the console', async () => {
  const [name] = (await shared.signIn('mira')).split('=');
  const answer = await shared.call(`${name}=${await makeToken(shared)}`, '/session');
  await expectError(answer, 401, 'session_missing');
});

test('an unknown path needs a token before it is 404', async () => {
  await expectError(await send(shared, null, '/nothing'), 401, 'token_missing');
  await expectError(await send(shared, await makeToken(shared), '/nothing'), 404, 'not_found');
});

test('a page of another origin may not call the API', async () => {
  const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'GET' };
  const preflight = await send(shared, null, '/session', { method: 'OPTIONS', headers });
  assert.equal(preflight.ok, false);
  const answer = await send(shared, await makeToken(shared), '/session', { headers });
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
});

test('the store has only the hash of a token', async () => {
  const token = await makeToken(shared);
  const rows = shared.openFile().prepare('select token_hash from console_sessions').all();
  assert.ok(rows.length > 0);
  for (const { token_hash: stored } of rows)
    assert.notDeepEqual(Buffer.from(stored as Uint8Array), Buffer.from(token, 'base64url'));
});

test('a token expires', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira', 'reader');
  const { token } = await service.sessions.makeToken('mira', dayMs);
  service.clock.advance(dayMs - 1);
  assert.equal((await send(service, token, '/session')).status, 200);
  service.clock.advance(1);
  await expectError(await send(service, token, '/session'), 401, 'token_invalid');
});

test('removing an operator ends its sessions and tokens at once', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira', 'admin');
  const [cookie, token] = [await service.signIn('mira'), await makeToken(service)];
  const link = await service.makeLink('mira');
  await service.store.operators.remove('mira');
  await expectError(await service.call(cookie, '/session'), 401, 'session_missing');
  await expectError(await send(service, token, '/session'), 401, 'token_invalid');
  await expectError(await service.exchange(link), 401, 'session_missing');
});

test('ending a session leaves the others', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira', 'admin');
  const [one, other] = [await service.signIn('mira'), await service.signIn('mira')];
  const { id } = (await (await service.call(one, '/session')).json()) as { readonly id: string };
  assert.equal((await service.call(other, `/sessions/${id}`, { method: 'DELETE' })).status, 204);
  await expectError(await service.call(one, '/session'), 401, 'session_missing');
  assert.equal((await service.call(other, '/session')).status, 200);
  const { items } = await service.store.audit.list({ limit: 1, newestId: null });
  assert.deepEqual([items[0]?.action, items[0]?.subject], ['console.session_ended', id]);
});

test('beyond 60 wrong tokens in a minute, wrong ones get 429', async (t) => {
  const service = await startConsole(t);
  await service.store.operators.add('mira', 'reader');
  const wrong = 'A'.repeat(43);
  for (let sent = 0; sent < wrongTokensMax; sent += 1)
    await expectError(await send(service, wrong, '/session'), 401, 'token_invalid');
  const refused = await send(service, wrong, '/session');
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
  await expectError(refused, 429, 'rate_limit_exceeded');
  // A right token passes all the same.
  assert.equal((await send(service, await makeToken(service), '/session')).status, 200);
});

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-role': string }>>>>;
  readonly components: {
    readonly schemas: { readonly Error: { readonly properties: { code: { anyOf: { enum?: string[] }[] } } } };
  };
}

test('the description of the API has every operation with its role', async () => {
  const answer = await fetch(`${shared.app.opsUrl}/ops/openapi.json`);
  const { paths, components } = (await answer.json()) as Description;
  assert.equal(paths['/accounts/{account}/suspend']?.['post']?.['x-role'], 'support');
  assert.equal(paths['/operators']?.['post']?.['x-role'], 'admin');
  const [known] = components.schemas.Error.properties.code.anyOf;
  for (const code of operatorCodes) assert.ok(known?.enum?.includes(code));
});
