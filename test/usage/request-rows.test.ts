import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { createFailedRequests, type FailedRequest, listRequests } from '../../src/usage/failed-requests.ts';
import { requestRowsMax, requestsKeptMs, shareRows, sweepRequests } from '../../src/usage/request-rows.ts';

import { describeOnEngines, type Engine, openStore } from '../support/engines.ts';
import { createMovableClock } from '../support/service.ts';

const conflict: FailedRequest = {
  accountId: 1n,
  keyId: 'key_1',
  status: 409,
  code: 'pet_unavailable',
  requestId: 'r1',
  durationMs: 3,
  address: '192.0.2.7',
  operation: 'POST /v1/orders',
  subject: null,
  message: 'the animal is not available',
};
const refusal = { ...conflict, accountId: 2n, status: 429, code: 'rate_limit_exceeded' };

async function open(t: TestContext, engine: Engine) {
  const { store, database } = await openStore(t, engine);
  const clock = createMovableClock();
  const requests = createFailedRequests(database, clock.now);
  return {
    ...{ store, database, clock, requests },
    /** Returns the `requestId` of each row, oldest first. */
    async list() {
      const { items } = await listRequests(database, { limit: 1_000_000 });
      return items.map((row) => row.requestId).reverse();
    },
    async note(...noted: FailedRequest[]) {
      for (const each of noted) requests.note(each);
      await requests.flush();
    },
    /** Adds rows of an account directly. The request id of each is its number. */
    insert: (accountId: bigint | null, count: number, from = 1) =>
      store.execute(`with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${from + count - 1})
        insert into requests (at_ms, last_at_ms, account_id, status, duration_ms, times, request_id)
        select n, ${clock.now()}, ${accountId}, 404, 1, 1, n from numbers`),
    sweep: (bounds?: Partial<typeof requestRowsMax>) =>
      sweepRequests(database, clock.now() - requestsKeptMs, { ...requestRowsMax, ...bounds }),
  };
}

test('the share of an account is the most that each may keep so that all fit', () => {
  const bounds = { all: 100, ofAccount: 60 };
  const shares: readonly (readonly [counts: number[], share: number])[] = [
    [[], 60],
    [[10, 20, 70], 60],
    [[5, 55, 55], 47],
    [[40, 30, 30], 60],
    [[200], 60],
    [Array(7).fill(20), 14],
    [Array(200).fill(1), 60],
    [[...Array(200).fill(1), 9], 1],
  ];
  for (const [counts, share] of shares) assert.equal(shareRows(counts, bounds), share, String(counts));
});

await describeOnEngines('the record of failed requests', (engine) => {
  test('deletes a row 7 days after its last request', async (t) => {
    const { note, list, sweep, clock } = await open(t, engine);
    for (const requestId of ['r1', 'r2', 'r3']) {
      await note({ ...conflict, requestId });
      clock.advance(dayMs);
    }
    clock.advance(requestsKeptMs - 3 * dayMs);
    await sweep();
    assert.deepEqual(await list(), ['r1', 'r2', 'r3']);
    clock.advance(1);
    await sweep();
    assert.deepEqual(await list(), ['r2', 'r3']);
  });

  test('loses no row of another account when one key is refused again and again', async (t) => {
    const { note, list, sweep } = await open(t, engine);
    await note(conflict);
    for (let flush = 0; flush < 50; flush += 1) await note(refusal);
    await note({ ...conflict, requestId: 'r2' });
    await sweep({ all: 10 });
    assert.deepEqual(await list(), ['r1', 'r1', 'r2']);
  });

  test('uses no id for a refusal that joins a row', async (t) => {
    const { note, database } = await open(t, engine);
    for (let flush = 0; flush < 50; flush += 1) await note(refusal);
    await note(conflict);
    const { items } = await listRequests(database, { limit: 10 });
    assert.deepEqual(
      items.map(({ id, times }) => [id, times]),
      [
        [2n, 1],
        [1n, 50],
      ],
    );
  });

  test('loses no row when ids are skipped, as after a failover', async (t) => {
    const { note, list, sweep, store } = await open(t, engine);
    await note(conflict);
    await store.execute(
      engine.name === 'SQLite'
        ? `update sqlite_sequence set seq = 1000000 where name = 'requests'`
        : `select setval(pg_get_serial_sequence('requests', 'id'), 1000000)`,
    );
    await note({ ...conflict, requestId: 'r2' });
    await sweep();
    assert.deepEqual(await list(), ['r1', 'r2']);
  });

  test('deletes the oldest rows of the accounts with the most rows beyond 100,000', async (t) => {
    const { insert, list, sweep } = await open(t, engine);
    await insert(20n, 3, 200_001);
    for (let account = 1; account <= 11; account += 1)
      await insert(BigInt(account), 9_300, 9_300 * (account - 1) + 1);
    await sweep();
    const kept = await list();
    const share = Math.floor((100_000 - 3) / 11);
    assert.equal(kept.length, 11 * share + 3);
    assert.deepEqual(kept.slice(0, 4), ['200001', '200002', '200003', String(9_300 - share + 1)]);
    assert.equal(kept.at(-1), String(11 * 9_300));
  });

  test('deletes no row of an account within its share when others fill the store', async (t) => {
    const { insert, list, sweep } = await open(t, engine);
    await insert(1n, 10);
    await insert(2n, 500, 11);
    await insert(null, 500, 511);
    await sweep({ all: 110 });
    const kept = (await list()).map(Number);
    assert.deepEqual(
      [kept.filter((id) => id <= 10).length, kept.filter((id) => id > 10 && id <= 510).length, kept.length],
      [10, 50, 110],
    );
  });

  test('deletes the oldest rows of an account beyond 10,000', async (t) => {
    const { insert, list, sweep } = await open(t, engine);
    await insert(1n, 3);
    await insert(2n, 12_002, 4);
    await insert(1n, 1, 20_000);
    await sweep();
    const kept = await list();
    assert.deepEqual([kept.length, ...kept.slice(0, 4)], [10_004, '1', '2', '3', '2006']);
    assert.equal(kept.at(-1), '20000');
  });

  test('counts all requests without a valid key as one account', async (t) => {
    const { insert, list, sweep } = await open(t, engine);
    await insert(1n, 2);
    await insert(null, 5, 3);
    await sweep({ ofAccount: 3 });
    assert.deepEqual(await list(), ['1', '2', '5', '6', '7']);
  });

  test('keeps its bound exactly when two instances delete at once', async (t) => {
    const { insert, list, sweep, store, clock } = await open(t, engine);
    const other = await store.open();
    await insert(1n, 500);
    const bounds = { all: 40, ofAccount: 50 };
    await Promise.all([sweep(bounds), sweepRequests(other, clock.now() - requestsKeptMs, bounds)]);
    assert.deepEqual((await list()).length, 40);
  });

  test('keeps the shares of all accounts when two instances delete at once', async (t) => {
    const { insert, list, sweep, store, clock } = await open(t, engine);
    const other = await store.open();
    await insert(1n, 5);
    for (const account of [2, 3, 4]) await insert(BigInt(account), 3_000, account * 10_000);
    const bounds = { all: 305, ofAccount: 1_000 };
    await Promise.all([sweep(bounds), sweepRequests(other, clock.now() - requestsKeptMs, bounds)]);
    const kept = (await list()).map((requestId) => Math.floor(Number(requestId) / 10_000));
    assert.deepEqual(Map.groupBy(kept, (account) => account).size, 4);
    for (const [account, rows] of Object.entries(Object.groupBy(kept, (account) => account)))
      assert.equal(rows?.length, account === '0' ? 5 : 100, account);
  });
});
