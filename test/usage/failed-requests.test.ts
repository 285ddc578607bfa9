import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hourMs } from '../../src/clock.ts';
import {
  createFailedRequests,
  type FailedRequest,
  listRequests,
  ownRowsMax,
  waitingRowsMax,
} from '../../src/usage/failed-requests.ts';
import { createWorld, fieldsOf, order } from '../accounts/world.ts';
import { runInProcess } from '../support/command-line.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { until } from '../support/processes.ts';
import { startService } from '../support/service.ts';

const conflict: FailedRequest = {
  accountId: 1n,
  keyId: 'key_1',
  status: 409,
  code: 'pet_unavailable',
  requestId: 'r1',
  durationMs: 3,
  address: '192.0.2.7',
  operation: 'POST /v1/orders',
  subject: 'animal 7',
  message: 'the animal is not available',
};

async function open(t: TestContext, engine: Engine) {
  const world = await createWorld(t, engine);
  const { database, clock, keyring } = world;
  await keyring.issue(order({ account: 'Zoo' }));
  const requests = createFailedRequests(database, clock.now);
  const list = async (filter: Partial<Parameters<typeof listRequests>[1]> = {}) =>
    (await listRequests(database, { limit: 10_000, newestId: null, ...filter })).items;
  return { ...world, requests, list };
}

await describeOnEngines('failed requests', (engine) => {
  test('are found by account, key, status, code, time and request id', async (t) => {
    const { requests, list, clock } = await open(t, engine);
    requests.note(conflict);
    clock.advance(hourMs);
    const stranger = { accountId: null, keyId: null, status: 404, code: 'not_found', requestId: 'r2' };
    requests.note({ ...conflict, ...stranger });
    await requests.flush();
    const [newest, oldest] = await list();
    assert.partialDeepStrictEqual(newest, { account: null, status: 404, requestId: 'r2', times: 1 });
    const { accountId: _, ...shown } = conflict;
    const atMs = clock.now() - hourMs;
    const times = { times: 1, atMs, lastAtMs: atMs };
    assert.deepEqual(oldest, { id: oldest?.id, ...shown, account: 'Zoo', ...times });
    const { keyId, status, code, requestId } = conflict;
    for (const filter of [{ accountId: 1n }, { keyId }, { status }, { code }, { requestId }]) {
      const [found, ...others] = await list(filter);
      assert.deepEqual([found?.requestId, others], ['r1', []]);
    }
    assert.equal((await list({ sinceMs: clock.now() })).length, 1);
    assert.deepEqual(fieldsOf(await list({ untilMs: clock.now() }), 'requestId'), [['r1']]);
    assert.equal((await list({ code: 'gone' })).length, 0);
  });

  test('a million refusals of one key share one row for each hour', async (t) => {
    const { requests, list, clock } = await open(t, engine);
    const refusal = { ...conflict, status: 429, code: 'rate_limit_exceeded' };
    for (let hour = 0; hour < 2; hour += 1) {
      for (let sent = 0; sent < 500_000; sent += 1) {
        requests.note(refusal);
        if (sent % 100_000 === 0) await requests.flush();
      }
      clock.advance(hourMs);
    }
    await requests.flush();
    const rows = fieldsOf(await list(), 'times', 'keyId', 'requestId', 'address');
    assert.deepEqual(rows, Array(2).fill([500_000, 'key_1', 'r1', null]));
  });

  test('of one account or stranger in an hour get a bounded number of rows', async (t) => {
    const { requests, list } = await open(t, engine);
    for (const accountId of [1n, null])
      for (let sent = 0; sent < 5_000; sent += 1) {
        const [status, code] = sent % 2 ? [409, 'pet_unavailable'] : [429, 'key_banned'];
        requests.note({ ...conflict, accountId, status, code, keyId: `key_${sent}` });
      }
    await requests.flush();
    const rows = await list();
    assert.equal(rows.length, 2 * (ownRowsMax + 2));
    const times = rows.reduce((sum, row) => sum + row.times, 0);
    assert.equal(times, 10_000);
    const shared = rows.filter((row) => row.times > 1);
    assert.deepEqual(fieldsOf(shared, 'keyId', 'address'), Array(4).fill([null, null]));
  });

  test('of two instances are added up', async (t) => {
    const { requests, list, store, clock } = await open(t, engine);
    const other = createFailedRequests(await store.open(), clock.now);
    const refusal = { ...conflict, status: 429, code: 'rate_limit_exceeded' };
    for (const each of [requests, other, requests]) each.note(refusal);
    await Promise.all([requests.flush(), other.flush()]);
    assert.equal((await list({ status: 429 }))[0]?.times, 3);
  });

  test('that share a row have what the last one was about', async (t) => {
    const { requests, list, clock } = await open(t, engine);
    const refusal = { ...conflict, status: 429, code: 'rate_limit_exceeded' };
    const last = { requestId: 'r3', operation: 'GET /v1/pets', subject: null, message: 'later' };
    requests.note(refusal);
    await requests.flush();
    clock.advance(1);
    requests.note({ ...refusal, requestId: 'r2', durationMs: 7 });
    clock.advance(1);
    requests.note({ ...refusal, ...last });
    await requests.flush();
    const [row] = await list();
    const lastAtMs = clock.now();
    assert.partialDeepStrictEqual(row, { ...last, times: 3, durationMs: 7, lastAtMs, atMs: lastAtMs - 2 });
  });

  test('are kept within a bound while they cannot be written', async (t) => {
    const { requests, list, store } = await open(t, engine);
    const refusal = { ...conflict, status: 429, code: 'rate_limit_exceeded' };
    await store.execute('alter table requests rename to hidden');
    requests.note(refusal);
    await assert.rejects(requests.flush());
    requests.note(refusal);
    for (let account = 0; account < waitingRowsMax + 10; account += 1)
      requests.note({ ...conflict, accountId: BigInt(account + 10) });
    await store.execute('alter table hidden rename to requests');
    await requests.flush();
    assert.equal((await list({ status: 429 }))[0]?.times, 2);
    assert.equal((await list({ limit: waitingRowsMax + 100 })).length, waitingRowsMax);
  });
});

test('the operator finds why a request failed, by its request id and by account, on the command line', async (t) => {
  const service = await startService(t);
  const url = service.config.databaseUrl;
  const key = await service.createKey('pro', undefined, { account: 'Zoo' });
  const sent = await service.send(key, 'POST /orders', { petId: 7 });
  assert.equal(sent.status, 404);
  const requestId = sent.headers.get('x-request-id') ?? '';
  await service.request(key, '/pets');
  await service.request('as_stg_wrong', '/pets');
  const print = async (...args: string[]) =>
    (await runInProcess(args, url, { clock: service.clock.now })).stdout;
  /** Runs `requests` until it lists something, because the rows are written twice a second. */
  async function find(...args: string[]) {
    const list = () => print('requests', '--json', ...args);
    return JSON.parse(await until(list, (printed) => printed !== '[]\n', 10_000));
  }
  const [{ keyId, at, lastAt, durationMs, ...shown }] = await find('--id', requestId);
  assert.match(keyId, /^key_/);
  assert.equal(typeof durationMs, 'number');
  assert.equal(at, lastAt);
  assert.deepEqual(shown, {
    times: 1,
    account: 'Zoo',
    address: '127.0.0.1',
    operation: 'POST /v1/orders',
    subject: 'animal 7',
    status: 404,
    code: 'not_found',
    message: 'petId: there is no animal with this identifier',
    requestId,
  });
  assert.equal((await find('--account', 'Zoo', '--since', '1h')).length, 1);
  assert.deepEqual(JSON.parse(await print('requests', '--json', '--until', '2020-01-01')), []);
  const [{ account, status, message }] = await find('--code', 'api_key_invalid');
  assert.deepEqual([account, status, message?.includes('as_stg_wrong')], [null, 401, false]);
  const unknown = await runInProcess('requests --account Ark', url);
  assert.deepEqual([unknown.code, unknown.stderr.split('\n').length], [1, 2]);
});
