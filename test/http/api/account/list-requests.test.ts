import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Scope, scopes } from '../../../../src/accounts/account.ts';
import { operations } from '../../../../src/http/api/operations.ts';
import { listAnswers } from '../../../../src/http/openapi/answers.ts';
import { expectError } from '../../../support/expect-error.ts';
import { until } from '../../../support/processes.ts';
import { nextOf, startService } from '../../../support/service.ts';

const service = await startService({ after });

type Row = Readonly<Record<string, unknown>>;

async function get(key: string, query = ''): Promise<readonly Row[]> {
  const response = await service.request(key, `/account/requests${query}`);
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as readonly Row[];
}

/** Asks until the list has `count` rows, because rows are written twice a second. */
const getAll = (key: string, count: number, query = '') =>
  until(
    () => get(key, query),
    (rows) => rows.length >= count,
    10_000,
  );

const createAccount = (name: string, keyScopes: readonly Scope[] = scopes) =>
  service.createKey('enterprise', undefined, { account: name, scopes: keyScopes });

test('GET /account/requests shows why a request failed without its address', async () => {
  const key = await createAccount('Zoo');
  const sent = await service.send(key, 'POST /orders', { petId: 7 });
  const requestId = sent.headers.get('x-request-id');
  const [row, ...others] = await getAll(key, 1, `?requestId=${requestId}`);
  assert.deepEqual(others, []);
  const [made] = (await service.store.keyring.list()).filter(({ account }) => account === 'Zoo');
  assert.equal(typeof row?.['durationMs'], 'number');
  assert.deepEqual(row, {
    at: new Date(service.clock.now()).toISOString(),
    requestId,
    operation: 'POST /v1/orders',
    status: 404,
    code: 'not_found',
    message: 'petId: there is no animal with this identifier',
    durationMs: row?.['durationMs'],
    keyId: made?.id,
    count: 1,
  });
});

test('any key of an account sees the failures of all its keys', async () => {
  const key = await createAccount('Ark');
  const other = await createAccount('Ark', ['webhooks:manage']);
  await service.request(key, '/nothing');
  const [row] = await getAll(other, 1);
  assert.deepEqual([row?.['operation'], row?.['status'], row?.['code']], [null, 404, 'not_found']);
});

test('no account sees the failures of another', async () => {
  const [one, other] = [await createAccount('one'), await createAccount('other')];
  const { headers } = await service.request(one, '/nothing');
  const query = `?requestId=${headers.get('x-request-id')}`;
  assert.equal((await getAll(one, 1, query)).length, 1);
  assert.deepEqual(await get(other, query), []);
});

test('the refusals of a limit share a row with their number', async () => {
  const limits = { perMinute: 1, perDay: 1_000 };
  const key = await service.createKey('enterprise', limits, { account: 'Farm', scopes });
  let last: Response | undefined;
  for (let sent = 0; sent < 4; sent += 1) last = await service.request(key, '/pets');
  assert.equal(last?.status, 429);
  const rows = await until(
    async () => {
      service.clock.advance(60_000);
      return get(key, '?code=rate_limit_exceeded&status=429');
    },
    (found) => found[0]?.['count'] === 3,
    10_000,
  );
  assert.equal(rows.length, 1);
  assert.equal(rows[0]?.['requestId'], last?.headers.get('x-request-id'));
});

test('a walk through the pages meets every request once with the same filters', async () => {
  const key = await createAccount('Farmyard');
  const sent: (string | null)[] = [];
  for (let count = 0; count < 5; count += 1) {
    sent.unshift((await service.request(key, '/nothing')).headers.get('x-request-id'));
    await service.request(key, '/pets?limit=0');
    service.clock.advance(1_000);
  }
  await getAll(key, 10);
  const met: unknown[] = [];
  for await (const page of service.walk(
    key,
    '/account/requests?limit=2&code=not_found&since=2020-01-01T00:00:00%2B01:00',
  )) {
    const rows = (await page.json()) as readonly Row[];
    assert.ok(rows.length <= 2);
    met.push(...rows.map(({ requestId }) => requestId));
  }
  assert.deepEqual(met, sent);
});

test('a cursor works for the same filters alone', async () => {
  const key = await createAccount('Barn');
  await service.request(key, '/nothing');
  await service.request(key, '/nothing');
  await getAll(key, 2);
  const page = await service.request(key, '/account/requests?limit=1&status=404');
  const next = nextOf(page) ?? assert.fail('no next page');
  assert.match(next, /^\/account\/requests\?limit=1&status=404&cursor=/);
  await expectError(await service.request(key, next.replace('404', '400')), 400, 'invalid_parameter');
});

test('an unknown status, code or time is refused by its name', async () => {
  const key = await createAccount('Stable');
  const refused = {
    status: ['299', '600', '404.0', '', 'x'],
    code: ['nothing', 'NOT_FOUND', ''],
    since: ['yesterday', '2027-02-30T00:00:00Z', '2027-01-02', '2027-01-02T12:00:00', '2027-01-02T25:00:00Z'],
    until: ['', '1', '2027-01-02T12:00:00 00:00'],
    requestId: ['', '%27', 'a'.repeat(65)],
    limit: ['0', '101'],
  };
  for (const [name, values] of Object.entries(refused))
    for (const value of values) {
      const response = await service.request(key, `/account/requests?${name}=${value}`);
      assert.match(
        await expectError(response, 400, 'invalid_parameter'),
        new RegExp(`^${name} must be`),
        value,
      );
    }
});

test('every status of a response is one that can be asked for', () => {
  const { query } = operations.find(({ id }) => id === 'listRequests') ?? {};
  const { enum: known = [] } = (query?.properties['status'] ?? {}) as { enum?: readonly number[] };
  const answered = new Set(operations.flatMap((one) => listAnswers(one).map(({ status }) => status)));
  assert.deepEqual(
    [...known],
    [...answered].toSorted((one, other) => one - other),
  );
});
