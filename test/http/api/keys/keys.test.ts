import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { secondMs } from '../../../../src/clock.ts';
import { expectError } from '../../../support/expect-error.ts';
import { nextOf, startService } from '../../../support/service.ts';

const service = await startService({ after });
const makeKey = () => service.createKey('enterprise', undefined, { scopes });
const create = (key: string, body: unknown, headers?: Record<string, string>) =>
  service.send(key, 'POST /keys', body, headers);
const rotate = (key: string, id: string, body?: string) => service.send(key, `POST /keys/${id}/rotate`, body);

/** Creates a key with the scope `pets:read`. */
async function make(key: string): Promise<Shown> {
  return (await (await create(key, { scopes: ['pets:read'] })).json()) as Shown;
}

type Shown = Readonly<Record<'id' | 'state' | 'expiresAt' | 'key' | 'start', string>>;

async function list(key: string, query = ''): Promise<Shown[]> {
  return (await (await service.request(key, `/keys${query}`)).json()) as Shown[];
}

test('a new key works immediately within its scopes', async () => {
  const made = await make(await makeKey());
  assert.equal((await service.request(made.key, '/pets')).status, 200);
  await expectError(await service.post(made.key, { name: 'Rex', categoryId: 1 }), 403, 'scope_missing');
});

test('the text of a new key is shown once and never stored', async () => {
  const key = await makeKey();
  const response = await create(key, { name: 'Warehouse', scopes: ['pets:read'] });
  assert.deepEqual([response.status, response.headers.get('cache-control')], [201, 'no-store']);
  const made = (await response.json()) as Shown;
  const listed = await (await service.request(key, '/keys')).text();
  assert.match(listed, /"name":"Warehouse"/);
  assert.ok(!listed.includes(made.key));
  assert.equal(made.start, made.key.slice(0, 'as_stg_'.length + 4));
});

test('a rotated key works beside its successor for overlapSeconds or a day', async () => {
  const key = await makeKey();
  for (const body of [undefined, '', '{}', '{"overlapSeconds":60}']) {
    const seconds = body?.includes('60') ? 60 : 86_400;
    const old = await make(key);
    const response = await rotate(key, old.id, body);
    assert.deepEqual([response.status, response.headers.get('cache-control')], [201, 'no-store']);
    const { key: text } = (await response.json()) as Shown;
    const listed = (await list(key)).find(({ id }) => id === old.id);
    const end = new Date(service.clock.now() + seconds * secondMs).toISOString();
    assert.deepEqual([listed?.state, listed?.expiresAt], ['rotated', end]);
    for (const either of [text, old.key]) assert.equal((await service.request(either, '/pets')).status, 200);
    assert.ok(!service.readLog().includes(text));
    service.clock.advance(seconds * secondMs);
    await expectError(await service.request(old.key, '/pets'), 401, 'api_key_expired');
    assert.equal((await service.request(text, '/pets')).status, 200);
  }
});

test('an invalid field gets a 400 that names it', async () => {
  const key = await makeKey();
  for (const value of ['-1', '1.5', '"1"'])
    await expectError(await rotate(key, 'key_1', `{"overlapSeconds":${value}}`), 400, 'invalid_body');
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

test('each request creates a key, because Idempotency-Key is ignored, even if it is invalid', async () => {
  const key = await makeKey();
  for (const name of ['once', 'once', ' '])
    assert.equal((await create(key, { scopes: ['pets:read'] }, { 'idempotency-key': name })).status, 201);
  assert.equal((await list(key)).length, 4);
});

test('the pages of the keys have each key once', async () => {
  const key = await makeKey();
  for (let count = 0; count < 4; count += 1) await make(key);
  const found: string[] = [];
  for await (const response of service.walk(key, '/keys?limit=2'))
    found.push(...((await response.json()) as Shown[]).map(({ id }) => id));
  assert.equal(new Set(found).size, 5);
});

test('a cursor of a list of keys is refused for another account', async () => {
  const [key, other] = [await makeKey(), await makeKey()];
  for (let count = 0; count < 4; count += 1) await make(key);
  for await (const response of service.walk(key, '/keys?limit=2')) {
    const next = nextOf(response);
    if (next !== null) await expectError(await service.request(other, next), 400, 'invalid_parameter');
  }
});
