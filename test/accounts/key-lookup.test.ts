import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { generateKey } from '../../src/accounts/api-key.ts';
import { createKeyVerifier, freshMs, knownMs, lane } from '../../src/accounts/key-verifier.ts';
import { minuteMs } from '../../src/clock.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import { sqliteEngine } from '../support/engines.ts';
import { createWorld, order } from './world.ts';

const here = '192.0.2.7';
const elsewhere = '192.0.2.8';

/** A database whose reads can be held. `hold` holds all later reads, and `answerAll` releases them. */
function holdReads(database: Database) {
  const held: (() => void)[] = [];
  let isHolding = false;
  let begun = 0;
  return {
    database: {
      ...database,
      async read(statement, parameters) {
        begun += 1;
        if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
        return await database.read(statement, parameters);
      },
    } satisfies Database,
    countReads: () => begun,
    hold() {
      isHolding = true;
    },
    answerAll() {
      isHolding = false;
      for (const answer of held.splice(0)) answer();
    },
  };
}

async function open(t: TestContext) {
  const world = await createWorld(t, sqliteEngine);
  const { clock } = world;
  const reads = holdReads(world.database);
  const limiter = createLimiter({ counters: createMemoryCounters(), clock: clock.now });
  const lookup = createKeyVerifier(reads.database, clock.now, { findRefusal: limiter.findRefusal });

  /** Verifies a key as the request pipeline does: a failed lookup counts for the address. */
  async function ask(key: string, address = here): Promise<string> {
    const found = await lookup.verify(key, address);
    if ('refusal' in found) return (await limiter.takeForAddress(address)).code ?? found.refusal;
    return 'caller' in found ? 'caller' : String(found.decision.code);
  }
  function spend(address = here): void {
    for (let sent = 0; sent < freeLimits.perMinute; sent += 1) limiter.takeForAddress(address);
  }
  const askMany = (count: number, address = here) =>
    Promise.all(Array.from({ length: count }, () => ask(generateKey('stg'), address)));
  return { ...world, ...reads, lookup, limiter, ask, askMany, spend };
}

describe('a lookup of a key', () => {
  test('a cached key is found synchronously, even if its address has used up its limit', async (t) => {
    const { keyring, lookup, ask, spend, countReads } = await open(t);
    const { key } = await keyring.issue(order());
    await ask(key);
    spend();
    assert.ok('caller' in lookup.verify(key, here));
    assert.equal(countReads(), 1);
  });

  test('a recently valid key is read immediately while lookups of unknown keys from its address wait', async (t) => {
    const { keyring, clock, lookup, ask, askMany, hold, answerAll, countReads } = await open(t);
    const { key } = await keyring.issue(order());
    await ask(key);
    clock.advance(freshMs);
    hold();
    const strangers = askMany(500);
    await nextTurn();
    const before = countReads();
    const known = lookup.verify(key, here);
    assert.equal(countReads(), before + 1);
    answerAll();
    assert.ok('caller' in (await known));
    await strangers;
  });

  test('a key that was not found valid for an hour takes its turn like an unknown key', async (t) => {
    const { keyring, clock, ask, askMany, spend, hold, answerAll } = await open(t);
    const { key } = await keyring.issue(order());
    await ask(key);
    clock.advance(knownMs);
    spend();
    hold();
    const strangers = askMany(lane.spentMax + lane.runningMax);
    await nextTurn();
    assert.equal(await ask(key), 'rate_limit_exceeded');
    answerAll();
    await strangers;
  });

  test('simultaneous lookups of unknown keys stop when their address has used up its limit', async (t) => {
    const { askMany, hold, answerAll, countReads } = await open(t);
    hold();
    const answers = askMany(500);
    await nextTurn();
    assert.equal(countReads(), lane.runningMax);
    answerAll();
    const codes = await answers;
    const refused = codes.filter((code) => code === 'api_key_invalid').length;
    assert.equal(refused, freeLimits.perMinute);
    assert.deepEqual(new Set(codes), new Set(['api_key_invalid', 'rate_limit_exceeded']));
    const readsMax = freeLimits.perMinute + lane.runningMax + lane.spentMax;
    assert.ok(countReads() <= readsMax, `${countReads()}`);
  });

  test('a new valid key from an address below its limit is served while lookups of unknown keys from other addresses wait', async (t) => {
    const { keyring, ask, askMany, spend, hold, answerAll } = await open(t);
    const { key } = await keyring.issue(order());
    spend(elsewhere);
    hold();
    const strangers = [askMany(200), askMany(200, elsewhere)];
    const good = ask(key, '192.0.2.9');
    answerAll();
    assert.equal(await good, 'caller');
    await Promise.all(strangers);
  });

  test('100 new valid keys that arrive at once from one address are all served', async (t) => {
    const { keyring, ask } = await open(t);
    const keys = await Array.fromAsync({ length: 100 }, () => keyring.issue(order()));
    const answers = await Promise.all(keys.map(({ key }) => ask(key)));
    assert.deepEqual(new Set(answers), new Set(['caller']));
  });

  test('a new valid key from an address over its limit is served if the lane has room', async (t) => {
    const { keyring, ask, spend } = await open(t);
    const { key } = await keyring.issue(order());
    spend();
    assert.equal(await ask(key), 'caller');
  });

  test('beyond the lane an address over its limit gets 429 without a query, with its own headers and uncounted', async (t) => {
    const { lookup, limiter, askMany, spend, hold, answerAll, countReads } = await open(t);
    spend();
    hold();
    const waiting = askMany(lane.runningMax + lane.spentMax);
    await nextTurn();
    const found = await lookup.verify(generateKey('stg'), here);
    assert.ok('decision' in found);
    assert.deepEqual(found.decision, limiter.takeForAddress(here));
    assert.equal(found.decision.retryAfterSeconds, minuteMs / 1000);
    assert.equal(countReads(), lane.runningMax);
    answerAll();
    await waiting;
    assert.equal(countReads(), lane.runningMax + lane.spentMax);
  });

  test('a lookup that has waited too long for a slow store gets 503', async (t) => {
    const { clock, ask, askMany, hold, answerAll, countReads } = await open(t);
    hold();
    const running = askMany(lane.runningMax);
    const late = assert.rejects(ask(generateKey('stg')), { name: 'AppError', code: 'unavailable' });
    await nextTurn();
    clock.advance(lane.waitMsMax + 1);
    answerAll();
    await late;
    await running;
    assert.equal(countReads(), lane.runningMax);
  });

  for (const isSpent of [false, true])
    test(`all waiting lookups of a valid key succeed once the first succeeds, however late, ${isSpent ? 'even from an address over its limit' : 'from an address below its limit'}`, async (t) => {
      const { keyring, clock, ask, spend, hold, answerAll } = await open(t);
      const { key } = await keyring.issue(order());
      if (isSpent) spend();
      hold();
      const count = isSpent ? lane.runningMax + lane.spentMax : 300;
      const asked = Promise.all(Array.from({ length: count }, () => ask(key)));
      await nextTurn();
      clock.advance(lane.waitMsMax + 1);
      answerAll();
      assert.deepEqual(await asked, Array(count).fill('caller'));
    });

  test('unknown keys get 503 while the store fails, and do not block the lane', async (t) => {
    const { database, askMany, ask } = await open(t);
    await database.close();
    for (let round = 0; round < 2; round += 1)
      await assert.rejects(ask(generateKey('stg')), { name: 'AppError', code: 'unavailable' });
    await assert.rejects(askMany(10), { name: 'AppError', code: 'unavailable' });
  });
});
