import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Scope, scopes } from '../../../../src/accounts/account.ts';
import { secondMs } from '../../../../src/clock.ts';
import { expectCommonHeaders, expectError } from '../../../support/expect-error.ts';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });
const json = { 'content-type': 'application/json' };
let accounts = 0;

/** Creates a key of a new account. */
async function makeKey(granted: readonly Scope[] = scopes, lifetimeMs: number | null = null) {
  accounts += 1;
  const order = { account: `zoo ${accounts}`, scopes: granted, lifetimeMs };
  return service.createKey('enterprise', undefined, order);
}

function create(key: string, body: unknown, headers: Record<string, string> = json) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return service.request(key, '/keys', { method: 'POST', headers, body: text });
}

/** Creates a key with the scope `pets:read`. */
async function make(key: string): Promise<Shown> {
  return (await (await create(key, { scopes: ['pets:read'] })).json()) as Shown;
}

function rotate(key: string, id: string, init: RequestInit = {}) {
  return service.request(key, `/keys/${id}/rotate`, { method: 'POST', ...init });
}

function remove(key: string, id: string) {
  return service.request(key, `/keys/${id}`, { method: 'DELETE' });
}

interface Shown {
  readonly id: string;
  readonly name: string | null;
  readonly state: string;
  readonly expiresAt: string | null;
  readonly key: string;
}

async function list(key: string, query = ''): Promise<Shown[]> {
  return (await (await service.request(key, `/keys${query}`)).json()) as Shown[];
}

test('a new key works immediately, and its text is shown once and never stored', async () => {
  const key = await makeKey();
  const response = await create(key, { name: 'Warehouse', scopes: ['pets:read'] });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  expectCommonHeaders(response);
  const made = (await response.json()) as Shown;
  assert.equal((await service.request(made.key, '/pets')).status, 200);
  await expectError(await service.post(made.key, { name: 'Rex', categoryId: 1 }), 403, 'scope_missing');
  const listed = await (await service.request(key, '/keys')).text();
  assert.match(listed, /"name":"Warehouse"/);
  assert.ok(!listed.includes(made.key));
  const { start } = made as unknown as { start: string };
  assert.ok(made.key.startsWith(start) && start.length === 'as_stg_'.length + 4);
});

test('a rotated key works until its overlap ends, and its successor works immediately', async () => {
  const key = await makeKey();
  const old = await make(key);
  const response = await rotate(key, old.id, { headers: json, body: '{"overlapSeconds":60}' });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { key: text } = (await response.json()) as Shown;
  for (const either of [text, old.key]) assert.equal((await service.request(either, '/pets')).status, 200);
  service.clock.advance(60 * secondMs);
  await expectError(await service.request(old.key, '/pets'), 401, 'api_key_expired');
  assert.equal((await service.request(text, '/pets')).status, 200);
});

test('a rotation without overlapSeconds keeps the old key valid for a day, with or without a body', async () => {
  const key = await makeKey();
  for (const init of [{}, { headers: json }, { headers: json, body: '{}' }]) {
    const old = await make(key);
    assert.equal((await rotate(key, old.id, init)).status, 201);
    const listed = (await list(key)).find(({ id }) => id === old.id);
    const end = new Date(service.clock.now() + 86_400 * secondMs).toISOString();
    assert.deepEqual([listed?.state, listed?.expiresAt], ['rotated', end]);
  }
});

test('a rotation with an invalid body gets 400 or 415 and leaves the key unchanged', async () => {
  const key = await makeKey();
  const { id } = await make(key);
  for (const value of ['-1', '1.5', '"1"', 'null']) {
    const body = `{"overlapSeconds":${value}}`;
    await expectError(await rotate(key, id, { headers: json, body }), 400, 'invalid_body');
    const text = { 'content-type': 'text/plain' };
    await expectError(await rotate(key, id, { headers: text, body }), 415, 'unsupported_media_type');
  }
  assert.equal((await list(key)).find((one) => one.id === id)?.state, 'active');
});

test('a deleted key is refused and not listed, and a second DELETE gets 404', async () => {
  const key = await makeKey();
  const made = await make(key);
  assert.equal((await remove(key, made.id)).status, 204);
  await expectError(await service.request(made.key, '/pets'), 401, 'api_key_revoked');
  assert.equal((await list(key)).length, 1);
  await expectError(await remove(key, made.id), 404, 'not_found');
  await expectError(await rotate(key, made.id), 404, 'not_found');
});

test('a key of another account gets 404', async () => {
  const [one, other] = [await makeKey(), await makeKey()];
  const [{ id = '' } = {}] = await list(other);
  await expectError(await remove(one, id), 404, 'not_found');
  await expectError(await rotate(one, id), 404, 'not_found');
  assert.equal((await list(other)).length, 1);
});

test('a key can grant only scopes that it has or covers', async () => {
  const narrow = await makeKey(['keys:manage', 'orders:manage']);
  assert.equal((await create(narrow, { scopes: ['orders:read', 'orders:write'] })).status, 201);
  const refused = await create(narrow, { scopes: ['orders:read', 'pets:read'] });
  assert.match(await expectError(refused, 403, 'scope_missing'), /pets:read/);
});

test('an invalid field gets 400, and the message names it', async () => {
  const key = await makeKey();
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    scopes: [undefined, 'pets:read', [], ['pets:all'], ['all'], ['pets:read', 'pets:read'], null, [1]],
    name: ['', null, 'a\n', 'R'.repeat(256)],
    expiresInSeconds: [0, 1.5, '60', null, 1e300],
  };
  for (const [field, values] of Object.entries(wrong))
    for (const value of values) {
      const response = await create(key, { scopes: ['pets:read'], [field]: value });
      assert.match(await expectError(response, 400, 'invalid_body'), new RegExp(`^${field} (must|is)`));
    }
  assert.equal((await list(key)).length, 1);
});

test('an expiry after the expiry of the calling key gets 400, and the default is the expiry of the calling key', async () => {
  const key = await makeKey(scopes, 60 * secondMs);
  const end = new Date(service.clock.now() + 60 * secondMs).toISOString();
  const late = await create(key, { scopes: ['pets:read'], expiresInSeconds: 61 });
  assert.match(await expectError(late, 400, 'invalid_body'), /^expiresInSeconds /);
  const made = await make(key);
  assert.equal(made.expiresAt, end);
});

test('a request for a 26th active key gets 409, and a rotated key in its overlap does not count', async () => {
  const key = await makeKey();
  let last = '';
  for (let count = 1; count < 25; count += 1) last = (await make(key)).id;
  await expectError(await create(key, { scopes: ['pets:read'] }), 409, 'limit_reached');
  assert.equal((await rotate(key, last)).status, 201);
  assert.equal((await list(key, '?limit=100')).length, 26);
  await expectError(await create(key, { scopes: ['pets:read'] }), 409, 'limit_reached');
  await remove(key, last);
  await expectError(await create(key, { scopes: ['pets:read'] }), 409, 'limit_reached');
});

test('each request creates a key, because Idempotency-Key is ignored, even if it is invalid', async () => {
  const key = await makeKey();
  for (const name of ['once', 'once', ' '])
    assert.equal(
      (await create(key, { scopes: ['pets:read'] }, { ...json, 'idempotency-key': name })).status,
      201,
    );
  assert.equal((await list(key)).length, 4);
});

test('the list of keys has an ETag that changes with it, and cursors that only its account can use', async () => {
  const [key, other] = [await makeKey(), await makeKey()];
  const { id } = await make(key);
  for (let count = 0; count < 3; count += 1) await make(key);
  const found: string[] = [];
  for (let path: string | null = '/keys?limit=2'; path !== null; ) {
    const response = await service.request(key, path);
    found.push(...((await response.json()) as Shown[]).map(({ id }) => id));
    const next = /<\/v1([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
    if (next !== null) await expectError(await service.request(other, next), 400, 'invalid_parameter');
    path = next;
  }
  assert.equal(new Set(found).size, 5);
  const etag = (await service.request(key, '/keys')).headers.get('etag') ?? '';
  const asked = { headers: { 'if-none-match': etag } };
  assert.equal((await service.request(key, '/keys', asked)).status, 304);
  await remove(key, id);
  assert.equal((await service.request(key, '/keys', asked)).status, 200);
});

test('a cursor of the list of animals is refused for the list of keys, and vice versa', async () => {
  const key = await makeKey();
  for (let count = 0; count < 2; count += 1) await service.post(key, { name: 'Rex', categoryId: 1 });
  await create(key, { scopes: ['pets:read'] });
  const cursorOf = async (path: string) =>
    /cursor=([\w-]+)/.exec((await service.request(key, path)).headers.get('link') ?? '')?.[1];
  const [pets, keys] = [await cursorOf('/pets?limit=1'), await cursorOf('/keys?limit=1')];
  assert.ok(pets && keys);
  await expectError(await service.request(key, `/keys?cursor=${pets}`), 400, 'invalid_parameter');
  await expectError(await service.request(key, `/pets?cursor=${keys}`), 400, 'invalid_parameter');
});

test('the log has no new or rotated key', async () => {
  const key = await makeKey();
  const made = await make(key);
  await rotate(key, made.id);
  assert.ok(!service.readLog().includes(made.key));
});
