import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { generateKey } from '../../../src/accounts/api-key.ts';
import type { ListedKey } from '../../../src/accounts/key-rows.ts';
import { dayMs, secondMs } from '../../../src/clock.ts';
import type { ErrorCode } from '../../../src/errors.ts';
import { expectError } from '../../support/expect-error.ts';
import {
  exchangeOne,
  formatHeads,
  formatRequest,
  openRaw,
  type RawResponse,
  rexText,
} from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after }, { LOG_REQUESTS: 'all' });
const invalidKey = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
await service.importPets(3);

// Requests without a key count for the address, so each test starts on a new day.
beforeEach(() => service.clock.advance(dayMs));

async function expect401(response: Response | RawResponse, code: ErrorCode): Promise<void> {
  const challenge = code === 'api_key_missing' ? 'Bearer' : 'Bearer error="invalid_token"';
  const headers = { 'www-authenticate': challenge, 'cache-control': 'no-store' };
  const message = await expectError(response, 401, code, headers);
  if (code === 'api_key_invalid') assert.equal(message, 'Authorization: invalid API key');
}

/** The code of each `Authorization`, or null if the request is served. */
const authorizations: Readonly<Record<string, readonly [text: string, code: ErrorCode | null]>> = {
  'only the scheme': ['Bearer', 'api_key_missing'],
  'the scheme and a blank': ['Bearer ', 'api_key_missing'],
  'a key without a scheme': [key, 'api_key_missing'],
  'the scheme Basic': [`Basic ${btoa(`${key}:`)}`, 'api_key_missing'],
  'the scheme Token': [`Token ${key}`, 'api_key_missing'],
  'no blank before the token': [`Bearer${key}`, 'api_key_missing'],
  'two tokens': [`Bearer ${key} ${key}`, 'api_key_invalid'],
  'a comma after the token': [`Bearer ${key}, Basic x`, 'api_key_invalid'],
  'a tab before the token': [`Bearer\t${key}`, 'api_key_invalid'],
  'a blank and a tab before the token': [`Bearer \t${key}`, 'api_key_invalid'],
  'a non-ASCII letter before the token': [`Bearer \u00e9${key}`, 'api_key_invalid'],
  'one character of the key changed': [`Bearer ${invalidKey}`, 'api_key_invalid'],
  'a key that another store issued': [`Bearer ${generateKey('stg')}`, 'api_key_invalid'],
  'a key in lower case': [`Bearer ${key.toLowerCase()}`, 'api_key_invalid'],
  'a key with an additional character': [`Bearer ${key}x`, 'api_key_invalid'],
  'a key without its last character': [`Bearer ${key.slice(0, -1)}`, 'api_key_invalid'],
  'a key in quotes': [`Bearer "${key}"`, 'api_key_invalid'],
  'a key in another format': ['Bearer secret', 'api_key_invalid'],
  'a key that is very long': [`Bearer ${'a'.repeat(8_000)}`, 'api_key_invalid'],
  'a key with non-ASCII characters': ['Bearer as_stg_äöü', 'api_key_invalid'],
  'the scheme in lower case': [`bearer ${key}`, null],
  'the scheme in upper case': [`BEARER ${key}`, null],
  'the scheme in mixed case': [`bEaReR ${key}`, null],
  'several spaces': [`Bearer    ${key}`, null],
};
for (const [what, [authorization, code]] of Object.entries(authorizations))
  test(`an Authorization with ${what} ${code === null ? 'is accepted' : `gets 401 ${code}`}`, async () => {
    const response = await service.request(null, '/pets', { headers: { authorization } });
    if (code === null) assert.equal(response.status, 200);
    else await expect401(response, code);
  });

test('a revoked key gets 401 api_key_revoked within 2 s, even for a cached answer', async () => {
  const doomed = await service.createKey('enterprise', undefined, { account: 'doomed' });
  assert.equal((await service.request(doomed, '/pets')).status, 200);
  await service.store.keyring.revoke((await findKey('doomed')).id);
  service.clock.advance(2 * secondMs);
  await expect401(await service.request(doomed, '/pets'), 'api_key_revoked');
});

async function findKey(account: string): Promise<ListedKey> {
  const keys = await service.store.keyring.list();
  return keys.find((listed) => listed.account === account) ?? assert.fail();
}

const { keyring, accounts } = service.store;
const endings = {
  api_key_revoked: ({ id }: ListedKey) => keyring.revoke(id),
  account_suspended: ({ account }: ListedKey) => accounts.suspend(account),
};
for (const [code, end] of Object.entries(endings) as [keyof typeof endings, (key: ListedKey) => unknown][])
  test(`a request whose key stops working a second before the end of its body gets ${code}`, async (t) => {
    const slow = await service.createKey('enterprise', undefined, { account: code });
    const before = await service.countPets();
    const { add } = formatHeads(slow);
    const connection = await openRaw(t, service.baseUrl, add.slice(0, 1 - rexText.length));
    await service.untilCounted(slow, 1);
    await end(await findKey(code));
    service.clock.advance(secondMs);
    connection.send(rexText.slice(1));
    await expectError(await connection.read(), code === 'api_key_revoked' ? 401 : 403, code);
    assert.equal(await service.countPets(), before);
  });

test('a key in the query string, another header, a cookie or the body is ignored', async () => {
  const places = ['api_key', 'key', 'access_token', 'authorization'];
  const query = places.map((name) => `${name}=${encodeURIComponent(key)}`).join('&');
  const headers = {
    'x-api-key': key,
    cookie: `api_key=${key}`,
    'proxy-authorization': `Bearer ${key}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ name: 'Rex', categoryId: 1, access_token: key });
  const init = { method: 'POST', headers, body };
  await expect401(await service.request(null, `/pets?${query}`, init), 'api_key_missing');
});

test('a request with two Authorization headers gets 401, even if one of them is valid', async (t) => {
  for (const first of [key, invalidKey])
    for (const second of [key, invalidKey]) {
      const headers = { authorization: `Bearer ${first}`, Authorization: `Bearer ${second}` };
      const text = formatRequest('GET /v1/pets', headers);
      await expect401(await exchangeOne(t, service.baseUrl, text), 'api_key_invalid');
    }
});

const before: Readonly<Record<string, readonly [path: string, init?: RequestInit]>> = {
  'a wrong parameter': ['/pets?limit=0'],
  'a broken body': ['/pets', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }],
  'another content type': ['/pets', { method: 'POST', body: 'x' }],
  'a body that is too large': ['/pets', { method: 'POST', body: 'x'.repeat(3_000_000) }],
  'an unsupported method': ['/pets', { method: 'DELETE' }],
  'an unknown animal': ['/pets/999'],
  'an unknown path': ['/nothing/at/all'],
  'the base address itself': [''],
  'a trailing slash': ['/'],
  'a path that cannot be decoded': ['/%zz'],
  'a preflight of an origin that is not listed': [
    '/pets',
    { method: 'OPTIONS', headers: { origin: 'https://x.example', 'access-control-request-method': 'GET' } },
  ],
};
for (const [what, [path, init]] of Object.entries(before))
  test(`a request without a valid key for ${what} gets 401`, async () => {
    await expect401(await service.request(null, path, init), 'api_key_missing');
    await expect401(await service.request(invalidKey, path, init), 'api_key_invalid');
  });

test('each request on a connection is authenticated by its own Authorization header', async (t) => {
  const [reader, other] = [await service.createKey(), await service.createKey()];
  const raw = await openRaw(t, service.baseUrl);
  for (const [authorization, status, remaining] of [
    [`Bearer ${reader}`, 200, 999_999],
    [`Bearer ${reader}`, 200, 999_998],
    [`Bearer ${other}`, 200, 999_999],
    [`Bearer ${invalidKey}`, 401, 59],
    [null, 401, 58],
    [`Bearer ${reader}`, 200, 999_997],
    [reader, 401, 57],
    [`bearer  ${other}`, 200, 999_998],
    [`Bearer ${reader}`, 200, 999_996],
  ] as const) {
    const sent = authorization === null ? {} : { authorization };
    raw.send(formatRequest('GET /v1/pets', { connection: 'keep-alive', ...sent }));
    const { headers, ...response } = await raw.read();
    assert.equal(response.status, status, String(authorization));
    assert.equal(headers.get('x-ratelimit-remaining'), String(remaining));
  }
});
