import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { untilRendered } from '../support/documentation.ts';
import { listen } from '../support/local-server.ts';
import { exchangeRaw, expectStatuses, formatRequest } from '../support/raw-http.ts';
import { startWithKey } from '../support/service.ts';

/** Tests of the OWASP API Security Top 10 of 2023 that no other file has (docs/decisions/security.md). */

const { service, key } = await startWithKey({ after });
const { origin } = new URL(service.baseUrl);

test('API5: X-HTTP-Method-Override has no effect', async () => {
  const headers = { 'x-http-method-override': 'DELETE' };
  assert.equal((await service.request(key, '/pets', { headers })).status, 200);
});

test('API7: an address in the headers of a client is neither requested nor trusted', async (t) => {
  let calls = 0;
  const bait = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  const { host } = await listen(t, bait);
  const url = `http://${host}/x`;
  const hosts = { 'x-forwarded-host': host, 'x-forwarded-for': '127.0.0.1', forwarded: `host=${host}` };
  const named = { ...hosts, referer: url, origin: url, 'x-original-url': url };
  await service.importPets(3);
  const added = await service.post(key, { name: url, categoryId: 1, url, callback: url }, named);
  const path = `/pets?limit=1&url=${encodeURIComponent(url)}`;
  const listed = await service.request(key, path, { headers: named });
  const text = formatRequest(`GET ${url}`, { ...named, host, authorization: `Bearer ${key}` });
  assert.match(added.headers.get('location') ?? '', /^\/v1\/pets\//);
  assert.match(listed.headers.get('link') ?? '', /^<\/v1\/pets\?limit=1&cursor=/);
  expectStatuses(await exchangeRaw(t, service.baseUrl, text), 404);
  assert.equal(calls, 0);
});

test('API8: a page of the documentation reveals no product and sets no cookie', async () => {
  await untilRendered(origin);
  const { headers } = await fetch(`${origin}/docs`);
  for (const name of ['server', 'x-powered-by', 'via', 'access-control-allow-origin', 'set-cookie'])
    assert.equal(headers.get(name), null, name);
});

test('API10: the source connects only to the database, to Redis, to its own port and, in one file, to webhooks', async () => {
  // The command `profile` asks the service on the operator's port of this machine.
  const senders = ['webhooks/post-message.ts', 'cli/profile.ts'];
  const calls =
    /\bfetch\(|from '(?:undici|node:https|node:http2)'|\b(?:http|https)\.(?:get|request)\(|\{[^}]*\brequest\b[^}]*\} from 'node:http'/;
  const source = join(import.meta.dirname, '../../src');
  const entries = await readdir(source, { recursive: true });
  // The pages of the console run in a browser.
  const isOfService = (name: string) =>
    !senders.includes(name) && !name.startsWith('operator/console/pages/');
  for (const file of entries.filter((name) => name.endsWith('.ts') && isOfService(name))) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, calls, file);
  }
});
