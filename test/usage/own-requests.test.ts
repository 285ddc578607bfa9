import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { dayMs, hourMs } from '../../src/clock.ts';
import { createFailedRequests, type FailedRequest } from '../../src/usage/failed-requests.ts';
import {
  createOwnRequests,
  type OwnRequest,
  type OwnRequestsQuery,
  type RequestPlace,
} from '../../src/usage/own-requests.ts';
import { requestsKeptMs } from '../../src/usage/request-rows.ts';
import { describeOnEngines, type Engine, openStore } from '../support/engines.ts';
import { createMovableClock } from '../support/service.ts';

const conflict: FailedRequest = {
  accountId: 1n,
  keyId: 'key_1',
  status: 409,
  code: 'pet_unavailable',
  requestId: 'r1',
  durationMs: 3.4,
  address: '192.0.2.7',
  operation: 'POST /v1/orders',
  subject: 'animal 7',
  message: 'the animal is not available',
};
const refusal = { ...conflict, status: 429, code: 'rate_limit_exceeded', operation: 'GET /v1/pets' };

const all: OwnRequestsQuery = {
  ...{ accountId: 1n, requestId: null, status: null, code: null, sinceMs: null, untilMs: null },
  ...{ limit: 100, start: null },
};

async function open(t: TestContext, engine: Engine) {
  const { database, store } = await openStore(t, engine);
  const clock = createMovableClock();
  const requests = createFailedRequests(database, clock.now);
  const list = createOwnRequests(database, clock.now);
  return {
    ...{ database, store, clock, list },
    /** Records requests, a minute after each other. */
    async note(...noted: Partial<FailedRequest>[]) {
      for (const each of noted) {
        requests.note({ ...conflict, ...each });
        await requests.flush();
        clock.advance(60_000);
      }
    },
    /** Returns the request ids of a list. */
    async find(query: Partial<OwnRequestsQuery> = {}) {
      return idsOf((await list({ ...all, ...query })).items);
    },
  };
}

const idsOf = (items: readonly OwnRequest[]) => items.map(({ requestId }) => requestId);

await describeOnEngines('the requests of an account', (engine) => {
  test('have exactly their documented fields', async (t) => {
    const { note, list, clock } = await open(t, engine);
    const at = new Date(clock.now()).toISOString();
    await note({});
    const { operation, status, code, message, keyId, requestId } = conflict;
    const expected = { at, requestId, operation, status, code, message, durationMs: 3, keyId, count: 1 };
    assert.deepEqual((await list(all)).items, [expected]);
  });

  test('are those of no other account and of no stranger', async (t) => {
    const { note, find } = await open(t, engine);
    await note({}, { accountId: 2n, requestId: 'r2' }, { accountId: null, keyId: null, requestId: 'r3' });
    assert.deepEqual(await find(), ['r1']);
    assert.deepEqual(await find({ requestId: 'r2' }), []);
    assert.deepEqual(await find({ accountId: 2n }), ['r2']);
  });

  test('are found by request id, status, code or several of these', async (t) => {
    const { note, find } = await open(t, engine);
    const slow = { status: 200, code: null, message: null };
    await note({}, { ...slow, requestId: 'r2' }, { code: 'pet_in_order', requestId: 'r3' });
    assert.deepEqual(await find(), ['r3', 'r2', 'r1']);
    assert.deepEqual(await find({ requestId: 'r2' }), ['r2']);
    assert.deepEqual(await find({ status: 200 }), ['r2']);
    assert.deepEqual(await find({ code: 'pet_in_order' }), ['r3']);
    assert.deepEqual(await find({ status: 409 }), ['r3', 'r1']);
    assert.deepEqual(await find({ status: 200, code: 'pet_in_order' }), []);
  });

  test('are listed from `since` on and before `until`', async (t) => {
    const { note, find, clock } = await open(t, engine);
    const startMs = clock.now();
    await note({}, { requestId: 'r2' }, { requestId: 'r3' });
    const [second, third] = [startMs + 60_000, startMs + 120_000];
    assert.deepEqual(await find({ sinceMs: second }), ['r3', 'r2']);
    assert.deepEqual(await find({ sinceMs: second + 1 }), ['r3']);
    assert.deepEqual(await find({ untilMs: third }), ['r2', 'r1']);
    assert.deepEqual(await find({ untilMs: third + 1 }), ['r3', 'r2', 'r1']);
    assert.deepEqual(await find({ sinceMs: second, untilMs: third }), ['r2']);
    assert.deepEqual(await find({ sinceMs: third, untilMs: second }), []);
    assert.deepEqual(await find({ untilMs: -1 }), []);
  });

  test('are no longer listed after 7 days even if no job has deleted them', async (t) => {
    const { note, find, clock } = await open(t, engine);
    await note({});
    clock.advance(requestsKeptMs - 60_000);
    assert.deepEqual(await find({ sinceMs: clock.now() - 30 * dayMs }), ['r1']);
    clock.advance(1);
    assert.deepEqual(await find({ sinceMs: clock.now() - 30 * dayMs }), []);
  });

  test('that share a row have their number and the request id of the last', async (t) => {
    const { note, list, clock } = await open(t, engine);
    await note(
      refusal,
      { requestId: 'r2' },
      { ...refusal, requestId: 'r3' },
      { ...refusal, requestId: 'r4' },
    );
    const [first, second] = (await list(all)).items;
    const at = new Date(clock.now() - 60_000).toISOString();
    assert.partialDeepStrictEqual(first, { at, requestId: 'r4', count: 3, operation: 'GET /v1/pets' });
    assert.partialDeepStrictEqual(second, { requestId: 'r2', count: 1 });
  });

  test('that share a row are found by the time of the last', async (t) => {
    const { note, find, clock } = await open(t, engine);
    const startMs = clock.now();
    await note(refusal, { ...refusal, requestId: 'r2' });
    assert.deepEqual(await find({ sinceMs: startMs + 60_000 }), ['r2']);
    assert.deepEqual(await find({ untilMs: startMs + 60_000 }), []);
  });

  test('are met once each on a walk through pages of any size', async (t) => {
    const { note, list, store, clock } = await open(t, engine);
    await note({});
    // Several rows have the same time, and others moved to the front.
    await store.execute(`with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 25)
      insert into requests (at_ms, last_at_ms, account_id, status, code, duration_ms, times, request_id)
      select 1, ${clock.now()} + (n * 7 % 4), case when n % 5 = 0 then 2 else 1 end, 409, 'pet_unavailable', 1, 1, 'r' || n
      from numbers`);
    const whole = idsOf((await list(all)).items);
    assert.equal(new Set(whole).size, 20);
    for (const limit of [1, 3, 20]) {
      const met: (string | null)[] = [];
      let start: RequestPlace | null = null;
      do {
        const page: Awaited<ReturnType<typeof list>> = await list({
          ...all,
          code: 'pet_unavailable',
          limit,
          start,
        });
        met.push(...idsOf(page.items));
        start = page.next;
      } while (start !== null);
      assert.deepEqual(met, whole, String(limit));
    }
  });

  test('include those that another instance has recorded', async (t) => {
    const { note, list, store, clock, database } = await open(t, engine);
    const other = createFailedRequests(await store.open(), clock.now);
    await note(refusal);
    other.note({ ...refusal, requestId: 'r2' });
    await other.flush();
    clock.advance(hourMs);
    const { items } = await createOwnRequests(database, clock.now)(all);
    assert.deepEqual(items, (await list(all)).items);
    assert.deepEqual([items[0]?.requestId, items[0]?.count], ['r2', 2]);
  });
});
