import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { hourMs, minuteMs } from '../../src/clock.ts';
import { consoleOperations } from '../../src/operator/console/console.ts';
import { fieldOf } from '../accounts/world.ts';
import { exchangeRaw, formatRequest, openRaw } from '../support/raw-http.ts';
import { type ConsoleService, ownPage, startConsole } from './console-browser.ts';

/** The service of the tests that change neither its store nor its clock. */
const shared = await startConsole({ after });
const { host, origin, port } = new URL(shared.app.opsUrl);

async function expectRefusal(answer: Response, status: number, code: string): Promise<void> {
  const body = (await answer.json()) as { readonly code: string };
  assert.deepEqual([answer.status, body.code], [status, code]);
}

test('a sign-in link gives a HttpOnly, SameSite=Strict cookie until its owner signs out', async () => {
  const { makeLink, exchange, signIn, call } = shared;
  const answer = await exchange(await makeLink());
  assert.equal(answer.status, 204);
  const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
  assert.match(cookie, new RegExp(`^animal_store_console_${port}=[\\w-]{43}$`));
  assert.deepEqual(attributes, ['Path=/console', 'Max-Age=43200', 'HttpOnly', 'SameSite=Strict']);
  const session = await call(cookie, '/session');
  assert.equal(session.headers.get('cache-control'), 'no-store');
  assert.equal(((await session.json()) as { name: string }).name, 'mira');

  const other = await signIn();
  const left = await call(cookie, '/sign-out', { method: 'POST' });
  assert.equal(left.status, 204);
  assert.match(left.headers.get('set-cookie') ?? '', /=; Path=\/console; Max-Age=0; /);
  await expectRefusal(await call(cookie, '/session'), 401, 'session_missing');
  assert.equal((await call(other, '/session')).status, 200);
});

test('concurrent attempts with one link sign in once, as the audit log shows', async (t) => {
  const { makeLink, exchange, openFile } = await startConsole(t);
  const token = await makeLink();
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(token)));
  assert.deepEqual(fieldOf(answers, 'status').sort(), [204, ...Array(7).fill(401)]);
  await expectRefusal(await exchange(token), 401, 'session_missing');
  const audited = openFile().prepare("select actor from audit where action = 'console.signed_in'").all();
  assert.deepEqual(audited.length, 1);
  assert.match(String(audited[0]?.['actor']), /^mira in console_/);
});

test('links expire after ten minutes and sessions after 12 hours', async (t) => {
  const { makeLink, exchange, signIn, call, clock } = await startConsole(t);
  const [early, late] = [await makeLink(), await makeLink()];
  clock.advance(10 * minuteMs - 1);
  assert.equal((await exchange(early)).status, 204);
  clock.advance(1);
  await expectRefusal(await exchange(late), 401, 'session_missing');
  const cookie = await signIn();
  clock.advance(12 * hourMs - 1);
  assert.equal((await call(cookie, '/session')).status, 200);
  clock.advance(1);
  await expectRefusal(await call(cookie, '/session'), 401, 'session_missing');
});

test('only the sweep deletes expired links and sessions', async (t) => {
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

test('neither the store nor the log has the token of a link or of a session', async (t) => {
  const { makeLink, exchange, signIn, call, openFile, readLog } = await startConsole(t);
  const [used, link] = [await makeLink(), await makeLink()];
  const cookie = await signIn();
  await call(cookie, '/overview');
  await exchange(used);
  await exchange(used);
  const tables = ['console_links', 'console_sessions'];
  const rows = tables.flatMap((table) => openFile().prepare(`select * from ${table}`).all());
  assert.equal(rows.length, 3);
  const texts = rows
    .flatMap(Object.values)
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)));
  for (const secret of [used, link, cookie.split('=')[1] ?? '']) {
    assert.ok(!readLog().includes(secret));
    for (const form of [secret, Buffer.from(secret, 'base64url').toString('latin1')])
      assert.ok(!texts.some((text) => text.includes(form)));
  }
});

test('every operation of the console is refused without the cookie of a session', async () => {
  const [name = '', token = ''] = (await shared.signIn()).split('=');
  const addresses = [...consoleOperations.map(({ address }) => address), 'POST /sign-out'];
  const cookies = [null, `${name}=; a=b`, `${name}=${'A'.repeat(43)}`, `animal_store_console_1=${token}`];
  for (const address of addresses)
    for (const cookie of cookies) {
      const [method = '', path = ''] = address.replaceAll(/\{\w+\}/g, '1').split(' ');
      await expectRefusal(await shared.call(cookie, path, { method }), 401, 'session_missing');
    }
});

test('a request is refused if its session ends before its body is complete', async (t) => {
  const { app, signIn, sessions, store } = shared;
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

/** Sends a request with exactly these headers. Returns its status and the code of its error, or null. */
async function sendRaw(
  line: string,
  headers: Record<string, string>,
  body = '',
  { app }: ConsoleService = shared,
) {
  const sent = { ...headers, 'content-type': 'application/json', 'content-length': `${body.length}` };
  const [answer = assert.fail()] = await exchangeRaw({ after }, app.opsUrl, formatRequest(line, sent, body));
  const code = answer.status < 400 ? null : (JSON.parse(answer.body).code as string);
  return { status: answer.status, code, headers: answer.headers };
}

test('a change is refused unless it comes from a page of the console, even with a valid cookie', async () => {
  await shared.importPets(1);
  const cookie = await shared.signIn();
  for (const headers of [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3000' },
    // The address bar.
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin },
    // An old browser sends no Fetch Metadata.
    { origin: 'https://evil.example' },
    { origin: 'null' },
    {},
    { 'sec-fetch-site': 'same-origin, cross-site' },
  ]) {
    const link = JSON.stringify({ token: await shared.makeLink() });
    for (const [line, body] of [
      ['DELETE /console/api/pets/1', ''],
      ['POST /console/api/sign-in', link],
    ] as const) {
      const { status, code } = await sendRaw(line, { host, cookie, ...headers }, body);
      assert.deepEqual([status, code], [403, 'origin_refused'], `${line} ${JSON.stringify(headers)}`);
    }
  }
  assert.equal(await shared.countPets(), 1);
  assert.equal((await sendRaw('DELETE /console/api/pets/1', { host, cookie, origin })).status, 204);
});

test('a request with another Host gets health and metrics, but no console page and no console operation', async () => {
  const cookie = await shared.signIn();
  const near = `evil.example:P 127.0.0.1.evil.example:P localhost.evil.example 127.0.0.1@evil.example:P`;
  const others = `evil.example ${near.replaceAll('P', port)} 10.0.0.1 0.0.0.0 [::2]`;
  for (const other of others.split(' ')) {
    for (const path of ['/console', '/console/assets/1/main.ts', '/console/api/session']) {
      const { status, code } = await sendRaw(`GET ${path}`, { host: other, cookie });
      assert.deepEqual([status, code], [421, 'host_refused'], other);
    }
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.equal((await sendRaw(`GET ${path}`, { host: other })).status, 200, `${other} ${path}`);
  }
  for (const own of [`localhost:${port}`, '127.0.0.1', '127.9.9.9:1', `[::1]:${port}`])
    assert.equal((await sendRaw('GET /console', { host: own })).status, 200, own);
});

test('behind a proxy the console uses the host, origin and path of CONSOLE_URL and a Secure cookie', async (t) => {
  const settings = { CONSOLE_URL: 'https://ops.example.com/shop/console' };
  const service = await startConsole(t, settings);
  const signIn = async (from: string) => {
    const body = JSON.stringify({ token: await service.makeLink() });
    const headers = { host: 'ops.example.com', origin: from };
    return sendRaw('POST /console/api/sign-in', headers, body, service);
  };
  const answer = await signIn('https://ops.example.com');
  assert.equal(answer.status, 204);
  const cookie = /^animal_store_console_443=[\w-]{43}; Path=\/shop\/console; .*; Secure$/;
  assert.match(answer.headers.get('set-cookie') ?? '', cookie);
  for (const other of ['http://ops.example.com', 'https://ops.example.com:444', 'http://127.0.0.1'])
    assert.equal((await signIn(other)).status, 403, other);
});

test('a console page loads only its own files, is refused in a frame and sends no referrer', async () => {
  const { consoleUrl } = shared;
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
