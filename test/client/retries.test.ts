import assert from 'node:assert/strict';
import { after, beforeEach, type TestContext, test } from 'node:test';
import type { AnimalStoreOptions, Retry } from '../../client/src/index.ts';
import { dayMs, hourMs } from '../../src/clock.ts';
import { startRelay } from '../support/relay.ts';
import { expectFailure, openShop } from './shop.ts';

const rex = { name: 'Rex', categoryId: 1 };
const { service, connect } = await openShop({ after });
const { clock } = service;

let countBefore = 0;
beforeEach(async () => {
  countBefore = await service.countPets();
});
const countAdded = async () => (await service.countPets()) - countBefore;

/** Creates a client with a key of its own, and records the retries that it reports. */
async function createClient({ onRetry, ...options }: Partial<AnimalStoreOptions> = {}, perMinute = 100) {
  const retries: Retry[] = [];
  const apiKey = await service.createKey('enterprise', { perMinute, perDay: 100 });
  const note = (retry: Retry) => {
    retries.push(retry);
    return onRetry?.(retry);
  };
  return { client: connect({ onRetry: note, ...options, apiKey }), retries, apiKey };
}

/** Like `createClient`, but the client reaches the service through a relay. */
async function createRelayed(t: TestContext, options: Partial<AnimalStoreOptions> = {}) {
  const relay = await startRelay(t, service.baseUrl);
  return { relay, ...(await createClient({ baseUrl: relay.url, ...options })) };
}

test('a request over the limit is retried after Retry-After and then succeeds', async () => {
  const { client, retries } = await createClient({ onRetry: ({ waitMs }) => clock.advance(waitMs) }, 2);
  await client.pets.list();
  await client.pets.list();
  clock.advance(58_500);
  const pet = await client.pets.create(rex);
  assert.equal(pet.response.attempts, 2);
  const [retry] = retries;
  assert.equal(retry?.error.code, 'rate_limit_exceeded');
  assert.equal(retry.waitMs, (retry.error.retryAfterSeconds ?? 0) * 1000);
  assert.equal(await countAdded(), 1);
});

test('a call fails immediately with the requested wait if Retry-After exceeds maxWaitMs', async () => {
  const { client, retries, apiKey } = await createClient({ maxWaitMs: 59_999 }, 1);
  await client.pets.list();
  const error = await expectFailure(client.pets.list(), 'rate_limit_exceeded', apiKey);
  assert.deepEqual([error.status, error.retryAfterSeconds, error.attempts], [429, 60, 1]);
  assert.deepEqual([error.rateLimit?.limit, error.rateLimit?.remaining], [1, 0]);
  assert.deepEqual(retries, []);
});

test('an abort ends a waiting call with its reason', async () => {
  const reason = new Error('the user has left');
  const waiting = new AbortController();
  const { client } = await createClient({ onRetry: () => waiting.abort(reason) }, 1);
  await client.pets.list();
  await assert.rejects(client.pets.create(rex, { signal: waiting.signal }), reason);
  assert.equal(await countAdded(), 0);
});

test('an abort ends a running call', async (t) => {
  const relay = await startRelay(t, service.baseUrl);
  relay.silence();
  const running = new AbortController();
  const silent = connect({
    baseUrl: relay.url,
    fetch: (url, init) => {
      setImmediate(() => running.abort());
      return fetch(url, init);
    },
  });
  await assert.rejects(silent.pets.list({ signal: running.signal }), { name: 'AbortError' });
});

test('a call with an aborted signal sends nothing', async () => {
  const reason = new Error('the user has left');
  const { pets } = connect({ fetch: () => assert.fail('it was sent') });
  await assert.rejects(pets.list({ signal: AbortSignal.abort(reason) }), reason);
});

test('a signal of a polyfill without a reason ends a call', async () => {
  const signal = Object.assign(new EventTarget(), { aborted: false }) as AbortSignal;
  const abort = () => {
    Object.assign(signal, { aborted: true });
    signal.dispatchEvent(new Event('abort'));
  };
  const { client } = await createClient({ onRetry: abort }, 2);
  for (let count = 0; count < 2; count += 1) await client.pets.list({ signal });
  await assert.rejects(client.pets.list({ signal }), { name: 'AbortError' });
  await assert.rejects(client.pets.list({ signal }), { name: 'AbortError' });
});

test('listAll ends if its signal is aborted between two pages', async () => {
  await service.importPets(5);
  const ending = new AbortController();
  const walk = connect().pets.listAll({ limit: 2, signal: ending.signal });
  await walk.next();
  ending.abort(new Error('enough'));
  await walk.next();
  await assert.rejects(walk.next(), { message: 'enough' });
});

for (const afterBytes of [0, 20, 300])
  test(`a create whose answer breaks off after ${afterBytes} bytes is retried and adds one animal`, async (t) => {
    const { relay, client, retries, apiKey } = await createRelayed(t);
    relay.breakOff(2, afterBytes);
    const pet = await client.pets.create(rex);
    assert.deepEqual([pet.response.replayed, pet.response.attempts], [true, 3]);
    for (const { error } of retries) await expectFailure(Promise.reject(error), 'connection_failed', apiKey);
    assert.deepEqual([retries.length, await countAdded()], [2, 1]);
  });

test('a create whose answer was lost is not retried after its idempotency key may have expired', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const sleep = { ms: 22 * hourMs };
  const onRetry = () => t.mock.timers.tick(sleep.ms);
  const { relay, client, apiKey } = await createRelayed(t, { onRetry });
  relay.breakOff(1, 0);
  assert.equal((await client.pets.create(rex)).response.replayed, true);
  sleep.ms = dayMs;
  relay.breakOff(1, 0);
  const error = await expectFailure(client.pets.create(rex), 'connection_failed', apiKey);
  assert.equal(error.attempts, 1);
  assert.equal(await countAdded(), 2);
});

test('a create that a rate limit refused is retried after any wait', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const options: Partial<AnimalStoreOptions> = {
    fetch: async (url, init) => {
      const { body, status, headers } = await fetch(url, init);
      const answered = new Response(body, { status, headers });
      // The client waits 0 s. Instead, the clock of the service is advanced.
      if (status === 429) answered.headers.set('retry-after', '0');
      return answered;
    },
    onRetry: () => {
      clock.advance(dayMs);
      t.mock.timers.tick(dayMs);
    },
  };
  const { client } = await createClient(options, 1);
  await client.pets.list();
  const pet = await client.pets.create(rex);
  assert.equal(pet.response.attempts, 2);
});

test('listAll continues after answers that break off', async (t) => {
  await service.importPets(50);
  const count = await service.countPets();
  const { relay, client, retries } = await createRelayed(t);
  const ids = new Set<bigint>();
  for await (const { id } of client.pets.listAll({ limit: 10 })) {
    ids.add(id);
    if (ids.size === 15) relay.breakOff(1, 600);
  }
  assert.deepEqual([ids.size, retries.length], [count, 1]);
});

test('a call without an answer in time times out after its last attempt', async (t) => {
  const { relay, client, apiKey } = await createRelayed(t, { timeoutMs: 300, maxRetries: 0 });
  relay.silence();
  const error = await expectFailure(client.pets.list(), 'timed_out', apiKey);
  assert.match(error.message, /^no complete answer from http:.*\/v1\/pets within 300 ms$/);
});

test('an attempt without an answer in time is retried', async (t) => {
  const relay = await startRelay(t, service.baseUrl);
  relay.silence();
  const options = { timeoutMs: 2_000, maxRetries: 20, onRetry: () => relay.mend() };
  const { client } = await createClient({ baseUrl: relay.url, ...options });
  const pet = await client.pets.create(rex);
  assert.ok(pet.response.attempts > 1);
  assert.equal(await countAdded(), 1);
});

test('a create whose first attempt is still running is retried until that attempt is done', async () => {
  const file = service.openFile();
  const { client, retries } = await createClient({
    onRetry: () => {
      if (file.isTransaction) file.exec('rollback');
    },
  });
  file.exec('begin immediate');
  const create = () => client.pets.create(rex, { idempotencyKey: 'one' });
  const [first, second] = await Promise.all([create(), create()]);
  assert.equal(first.id, second.id);
  assert.equal(retries[0]?.error.code, 'idempotency_key_in_use');
  assert.equal(await countAdded(), 1);
});

test('a request that would fail again is not retried', async () => {
  const { client, retries } = await createClient();
  await assert.rejects(client.pets.create({ ...rex, name: '' }));
  await assert.rejects(client.pets.get(10n ** 18n));
  await assert.rejects(client.pets.list({ cursor: 'made up' }));
  assert.deepEqual(retries, []);
});
