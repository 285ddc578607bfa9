import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs } from '../../src/clock.ts';
import { exchangeRaw, formatRequest, openRaw } from '../support/raw-http.ts';
import type { Ending } from '../support/service.ts';
import { type ConsoleService, ownPage, startConsole } from './console-browser.ts';

async function expectRefusal(answer: Response, status: number, code: string): Promise<void> {
  const body = (await answer.json()) as { readonly code: string };
  assert.deepEqual([answer.status, body.code], [status, code]);
}

test('the token of a link is exchanged for a cookie that is HttpOnly and SameSite=Strict', async (t) => {
  const { makeLink, exchange, call, app } = await startConsole(t);
  const answer = await exchange(await makeLink());
  assert.equal(answer.status, 204);
  const port = new URL(app.opsUrl).port;
  const cookie = answer.headers.get('set-cookie') ?? '';
  assert.match(
    cookie,
    new RegExp(
      `^animal_store_console_${port}=[\\w-]{43}; Path=/console; Max-Age=43200; HttpOnly; SameSite=Strict$`,
    ),
  );
  const session = await call(cookie.split(';')[0] ?? '', '/session');
  assert.equal(session.status, 200);
  assert.equal(session.headers.get('cache-control'), 'no-store');
  assert.equal(((await session.json()) as { madeBy: string }).madeBy, 'mira');
});

test('a link signs in only once, even with concurrent attempts, and the audit log has the sign-in', async (t) => {
  const { makeLink, exchange, openFile } = await startConsole(t);
  const token = await makeLink();
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => exchange(token)))).map(
    ({ status }) => status,
  );
  assert.deepEqual(statuses.sort(), [204, ...Array(7).fill(401)]);
  await expectRefusal(await exchange(token), 401, 'session_missing');
  const audited = openFile().prepare("select actor from audit where action = 'console.signed_in'").all();
  assert.deepEqual(audited.length, 1);
  assert.match(String(audited[0]?.['actor']), /^mira in console_/);
});

test('a link expires after ten minutes', async (t) => {
  const { makeLink, exchange, clock } = await startConsole(t);
  const [early, late] = [await makeLink(), await makeLink()];
  clock.advance(10 * minuteMs - 1);
  assert.equal((await exchange(early)).status, 204);
  clock.advance(1);
  await expectRefusal(await exchange(late), 401, 'session_missing');
});

test('a session expires after 12 hours', async (t) => {
  const { signIn, call, clock } = await startConsole(t);
  const cookie = await signIn();
  clock.advance(12 * hourMs - 1);
  assert.equal((await call(cookie, '/session')).status, 200);
  clock.advance(1);
  await expectRefusal(await call(cookie, '/session'), 401, 'session_missing');
});

test('a sign-in deletes no other session, and the sweep deletes only what has expired', async (t) => {
  const { signIn, makeLink, sessions, openFile, clock } = await startConsole(t);
  await signIn();
  await makeLink();
  clock.advance(12 * hourMs);
  await signIn();
  const file = openFile();
  const count = () =>
    ['console_sessions', 'console_links'].map((table) => file.prepare(`select * from ${table}`).all().length);
  assert.deepEqual(count(), [2, 1]);
  await sessions.sweep();
  assert.deepEqual(count(), [1, 0]);
});

test('a cookie is invalid after its owner signs out', async (t) => {
  const { signIn, call } = await startConsole(t);
  const [cookie, other] = [await signIn(), await signIn()];
  const answer = await call(cookie, '/sign-out', { method: 'POST' });
  assert.equal(answer.status, 204);
  assert.match(answer.headers.get('set-cookie') ?? '', /=; Path=\/console; Max-Age=0; /);
  await expectRefusal(await call(cookie, '/session'), 401, 'session_missing');
  assert.equal((await call(other, '/session')).status, 200);
});

test('the store has neither the token of a link nor the token of a session', async (t) => {
  const { makeLink, signIn, openFile } = await startConsole(t);
  const link = await makeLink();
  const [, token = ''] = (await signIn()).split('=');
  const file = openFile();
  const texts = ['console_links', 'console_sessions'].flatMap((table) => {
    const rows = file.prepare(`select * from ${table}`).all();
    assert.equal(rows.length, 1, table);
    return rows.flatMap((row) =>
      Object.values(row).map((value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
      ),
    );
  });
  for (const secret of [link, token])
    for (const form of [secret, Buffer.from(secret, 'base64url').toString('latin1')])
      assert.ok(!texts.some((text) => text.includes(form)));
});

test('no log line contains a token', async (t) => {
  const { makeLink, exchange, call, readLog } = await startConsole(t);
  const link = await makeLink();
  const cookie = ((await exchange(link)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  await call(cookie, '/overview');
  await exchange(link);
  for (const secret of [link, cookie.split('=')[1] ?? '']) assert.ok(!readLog().includes(secret));
});

for (const [what, forge] of [
  ['no cookie', () => null],
  ['an empty cookie', (name: string) => `${name}=; a=b`],
  ['a made-up cookie', (name: string) => `${name}=${'A'.repeat(43)}`],
  ['the cookie of another port', (_: string, token: string) => `animal_store_console_1=${token}`],
] as const)
  test(`every operation of the console is refused with ${what}`, async (t) => {
    const { call, signIn } = await startConsole(t);
    const [name = '', token = ''] = (await signIn()).split('=');
    const cookie = forge(name, token);
    for (const [method, path] of [
      ['GET', '/session'],
      ['GET', '/overview'],
      ['GET', '/pets'],
      ['PATCH', '/pets/1'],
      ['DELETE', '/pets/1'],
      ['PUT', '/categories/1'],
      ['POST', '/orders/1/cancel'],
      ['GET', '/bans'],
      ['POST', '/keys/key_1/revoke'],
      ['GET', '/webhooks'],
      ['POST', '/webhooks/wh_1/enable'],
      ['POST', '/webhooks/wh_1/disable'],
      ['POST', '/webhooks/wh_1/replay'],
      ['POST', '/sign-out'],
    ] as const)
      await expectRefusal(await call(cookie, path, { method }), 401, 'session_missing');
  });

test('a request is refused if its session ends before its body is complete', async (t) => {
  const { app, signIn, sessions, store } = await startConsole(t);
  const { host } = new URL(app.opsUrl);
  const connection = await openRaw(t, app.opsUrl);
  const body = '{"account":"Zoo","plan":"free"}';
  const headers = {
    ...ownPage,
    host,
    cookie: await signIn(),
    expect: '100-continue',
    'content-type': 'application/json',
    'content-length': `${body.length}`,
  };
  connection.send(formatRequest('POST /console/api/accounts', headers));
  assert.equal((await connection.read()).status, 100);
  await sessions.revokeAll();
  connection.send(body);
  assert.equal((await connection.read()).status, 401);
  assert.deepEqual(await store.accounts.list(), []);
});

/** Sends a request with exactly these headers. */
async function sendRaw(
  t: Ending,
  { app }: ConsoleService,
  line: string,
  headers: Record<string, string>,
  body = '',
) {
  const sent = { ...headers, 'content-type': 'application/json', 'content-length': `${body.length}` };
  const [answer] = await exchangeRaw(t, app.opsUrl, formatRequest(line, sent, body));
  return answer ?? assert.fail();
}

async function requireRefusal(sending: ReturnType<typeof sendRaw>, status: number, code: string) {
  const { status: found, body } = await sending;
  assert.deepEqual([found, JSON.parse(body).code], [status, code]);
}

for (const [what, headers] of [
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['another port of the same machine', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3000' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['another site that claims the right Origin', { 'sec-fetch-site': 'cross-site', origin: 'OWN' }],
  ['an old browser on another site', { origin: 'https://evil.example' }],
  ['a page without an origin', { origin: 'null' }],
  ['a client that sends no origin', {}],
  ['a client that sends two values of Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin, cross-site' }],
] as const)
  test(`a request from ${what} changes nothing, even with a valid cookie`, async (t) => {
    const service = await startConsole(t);
    await service.importPets(1);
    const cookie = await service.signIn();
    const { host, origin } = new URL(service.app.opsUrl);
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === 'OWN' ? origin : value]),
    );
    const all = { host, cookie, ...sent };
    const link = JSON.stringify({ token: await service.makeLink() });
    for (const [line, body] of [
      ['DELETE /console/api/pets/1', ''],
      ['POST /console/api/sign-in', link],
    ] as const)
      await requireRefusal(sendRaw(t, service, line, all, body), 403, 'origin_refused');
    assert.equal(await service.countPets(), 1);
  });

test('a browser without Fetch Metadata may change something if its Origin is that of the console', async (t) => {
  const service = await startConsole(t);
  await service.importPets(1);
  const cookie = await service.signIn();
  const { host, origin } = new URL(service.app.opsUrl);
  const answer = await sendRaw(t, service, 'DELETE /console/api/pets/1', { host, cookie, origin });
  assert.equal(answer.status, 204);
});

test('a request with another Host gets health and metrics, but no console page and no console operation', async (t) => {
  const service = await startConsole(t);
  const cookie = await service.signIn();
  const { port } = new URL(service.app.opsUrl);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example`,
    `127.0.0.1@evil.example:${port}`,
    '10.0.0.1',
    '0.0.0.0',
    '[::2]',
  ]) {
    for (const path of ['/console', '/console/assets/1/main.js', '/console/api/session'])
      await requireRefusal(sendRaw(t, service, `GET ${path}`, { host, cookie }), 421, 'host_refused');
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.equal((await sendRaw(t, service, `GET ${path}`, { host })).status, 200, `${host} ${path}`);
  }
  for (const host of [`localhost:${port}`, '127.0.0.1', '127.9.9.9:1', `[::1]:${port}`])
    assert.equal((await sendRaw(t, service, 'GET /console', { host })).status, 200, host);
});

test('behind a proxy the console uses the host, origin and path of CONSOLE_URL and a Secure cookie', async (t) => {
  const settings = { CONSOLE_URL: 'https://ops.example.com/shop/console' };
  const service = await startConsole(t, settings);
  const signIn = async (origin: string) => {
    const body = JSON.stringify({ token: await service.makeLink() });
    return sendRaw(t, service, 'POST /console/api/sign-in', { host: 'ops.example.com', origin }, body);
  };
  const answer = await signIn('https://ops.example.com');
  assert.equal(answer.status, 204);
  assert.match(
    answer.headers.get('set-cookie') ?? '',
    /^animal_store_console_443=[\w-]{43}; Path=\/shop\/console; .*; Secure$/,
  );
  for (const origin of ['http://ops.example.com', 'https://ops.example.com:444', 'http://127.0.0.1'])
    assert.equal((await signIn(origin)).status, 403, origin);
});

test('a console page loads only its own files, is refused in a frame and sends no referrer', async (t) => {
  const { consoleUrl } = await startConsole(t);
  const page = await fetch(consoleUrl);
  const html = await page.text();
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|data:|\*/);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.doesNotMatch(html, /<script(?![^>]*src=)|<style|style=|\bon\w+=|https?:/);
  for (const [, address = ''] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
    const file = await fetch(new URL(address, consoleUrl));
    assert.equal(file.status, 200, address);
    assert.doesNotMatch(await file.text(), /\bfrom\s*["'][^./]/, address);
  }
});

test('the public port serves nothing of the console', async (t) => {
  const { app, signIn } = await startConsole(t);
  const cookie = await signIn();
  for (const path of ['/console', '/console/', '/console/assets/1/main.js', '/console/api/session'])
    assert.equal((await fetch(app.url + path, { headers: { cookie } })).status, 404, path);
});
