import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { generateKey } from '../../src/accounts/api-key.ts';
import {
  createKeyLookup,
  type LookedUp,
  lookUpWaitMsMax,
  spentLane,
  strangersLane,
} from '../../src/accounts/key-lookup.ts';
import { createKeyVerifier, rememberedMs } from '../../src/accounts/key-verifier.ts';
import { knownMs } from '../../src/accounts/known-keys.ts';
import { minuteMs } from '../../src/clock.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Engine } from '../support/engines.ts';
import { createWorld, engines, order } from './world.ts';

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

async function open(t: TestContext, engine: Engine) {
  const world = await createWorld(t, engine);
  const { clock } = world;
  const reads = holdReads(world.database);
  const verifier = createKeyVerifier(reads.database, clock.now);
  const limiter = createLimiter({ counters: createMemoryCounters(), clock: clock.now });
  const lookup = createKeyLookup({ verifier, findRefusal: limiter.findRefusal, clock: clock.now });

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
  return { ...world, ...reads, verifier, lookup, limiter, ask, askMany, spend };
}

function codeOf(found: LookedUp | Promise<LookedUp>): string | null {
  assert.ok(!(found instanceof Promise) && 'decision' in found, 'it was looked up');
  return found.decision.code;
}

for (const engine of engines)
  describe(`looking keys up on ${engine.name}`, { skip: engine.skip }, () => {
    test('a cached key is found synchronously, even if its address has used up its limit', async (t) => {
      const { keyring, lookup, ask, spend, countReads } = await open(t, engine);
      const { key } = await keyring.issue(order());
      await ask(key);
      spend();
      assert.ok('caller' in lookup.verify(key, here));
      assert.equal(countReads(), 1);
    });

    test('a mistyped key is refused synchronously and without a query', async (t) => {
      const { lookup, countReads } = await open(t, engine);
      assert.deepEqual(lookup.verify('mistyped', here), { refusal: 'api_key_invalid' });
      assert.equal(countReads(), 0);
    });

    test('a recently valid key is read immediately while lookups of unknown keys from its address wait', async (t) => {
      const { keyring, clock, lookup, ask, askMany, hold, answerAll, countReads } = await open(t, engine);
      const { key } = await keyring.issue(order());
      await ask(key);
      clock.advance(rememberedMs);
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

    test('a key counts as recently valid for an hour, even after a notification that its account has changed', async (t) => {
      const { keyring, verifier, clock, lookup, ask, spend, askMany, hold, answerAll } = await open(
        t,
        engine,
      );
      const { key } = await keyring.issue(order());
      await ask(key);
      verifier.forget(null);
      clock.advance(knownMs - 1);
      assert.equal(verifier.isKnown(key), true);
      clock.advance(1);
      spend();
      hold();
      const strangers = askMany(spentLane.waitingPerAddressMax + spentLane.runningMax);
      assert.equal(codeOf(lookup.verify(key, here)), 'rate_limit_exceeded');
      answerAll();
      await strangers;
    });

    test('simultaneous lookups of unknown keys stop when their address has used up its limit', async (t) => {
      const { askMany, hold, answerAll, countReads } = await open(t, engine);
      hold();
      const answers = askMany(500);
      await nextTurn();
      assert.equal(countReads(), strangersLane.runningMax);
      answerAll();
      const codes = await answers;
      const refused = codes.filter((code) => code === 'api_key_invalid').length;
      assert.equal(refused, freeLimits.perMinute);
      assert.deepEqual(new Set(codes), new Set(['api_key_invalid', 'rate_limit_exceeded']));
      const readsMax = freeLimits.perMinute + strangersLane.runningMax + spentLane.waitingMax;
      assert.ok(countReads() <= readsMax, `${countReads()}`);
    });

    test('all waiting lookups of an address are refused together once the address has used up its limit, even with slow counters', async (t) => {
      const { verifier, limiter, clock } = await open(t, engine);
      let asked = 0;
      const findRefusal = async (address: string) => {
        asked += 1;
        await nextTurn();
        return limiter.findRefusal(address);
      };
      const slow = createKeyLookup({ verifier, findRefusal, clock: clock.now });
      const waiting = Array.from({ length: 500 }, async () => slow.verify(generateKey('stg'), here));
      for (let sent = 0; sent < freeLimits.perMinute; sent += 1) limiter.takeForAddress(here);
      await Promise.all(waiting);
      assert.ok(asked <= 500 + 500 + strangersLane.runningMax, `${asked}`);
    });

    test('a new valid key from an address below its limit is served while lookups of unknown keys from other addresses wait', async (t) => {
      const { keyring, ask, askMany, spend, hold, answerAll } = await open(t, engine);
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
      const { keyring, ask } = await open(t, engine);
      const keys = await Promise.all(Array.from({ length: 100 }, () => keyring.issue(order())));
      const answers = await Promise.all(keys.map(({ key }) => ask(key)));
      assert.deepEqual(new Set(answers), new Set(['caller']));
    });

    test('a new valid key from an address over its limit is served if the queue for such addresses has room', async (t) => {
      const { keyring, ask, spend } = await open(t, engine);
      const { key } = await keyring.issue(order());
      spend();
      assert.equal(await ask(key), 'caller');
    });

    test('an address over its limit gets 429 without a query if its part of the queue is full, and another address does not', async (t) => {
      const { lookup, ask, askMany, spend, hold, answerAll, countReads } = await open(t, engine);
      spend();
      spend(elsewhere);
      hold();
      const waiting = askMany(spentLane.runningMax + spentLane.waitingPerAddressMax);
      const refused = lookup.verify(generateKey('stg'), here);
      assert.equal(codeOf(refused), 'rate_limit_exceeded');
      const other = ask(generateKey('stg'), elsewhere);
      await nextTurn();
      assert.equal(countReads(), spentLane.runningMax);
      answerAll();
      await Promise.all([waiting, other]);
      assert.equal(countReads(), spentLane.runningMax + spentLane.waitingPerAddressMax + 1);
    });

    test('the 429 for a full queue has the rate limit headers of the address and is not counted', async (t) => {
      const { lookup, limiter, askMany, spend, hold, answerAll } = await open(t, engine);
      spend();
      hold();
      const waiting = askMany(spentLane.runningMax + spentLane.waitingPerAddressMax);
      const found = lookup.verify(generateKey('stg'), here);
      assert.ok('decision' in found);
      assert.deepEqual(found.decision, limiter.takeForAddress(here));
      assert.equal(found.decision.retryAfterSeconds, minuteMs / 1000);
      answerAll();
      await waiting;
    });

    test('the queue for addresses over their limit is bounded in total', async (t) => {
      const { lookup, ask, spend, hold, answerAll } = await open(t, engine);
      const addresses = Array.from(
        { length: spentLane.waitingMax / spentLane.waitingPerAddressMax },
        (_, index) => `198.51.100.${index}`,
      );
      for (const address of [...addresses, here]) spend(address);
      hold();
      // The first lookup runs, and the others wait.
      const waiting = [ask(generateKey('stg'), addresses[0])];
      for (const address of addresses)
        for (let sent = 0; sent < spentLane.waitingPerAddressMax; sent += 1)
          waiting.push(ask(generateKey('stg'), address));
      assert.equal(codeOf(lookup.verify(generateKey('stg'), here)), 'rate_limit_exceeded');
      answerAll();
      await Promise.all(waiting);
    });

    test('a lookup that has waited too long for a slow store gets 503, or 429 if its address is over its limit', async (t) => {
      const { clock, ask, askMany, spend, hold, answerAll, countReads } = await open(t, engine);
      spend(elsewhere);
      hold();
      const running = [askMany(strangersLane.runningMax), askMany(spentLane.runningMax, elsewhere)];
      const late = assert.rejects(ask(generateKey('stg')), { name: 'AppError', code: 'unavailable' });
      const lateSpent = ask(generateKey('stg'), elsewhere);
      await nextTurn();
      clock.advance(lookUpWaitMsMax + 1);
      answerAll();
      await late;
      assert.equal(await lateSpent, 'rate_limit_exceeded');
      await Promise.all(running);
      assert.equal(countReads(), strangersLane.runningMax + spentLane.runningMax);
    });

    for (const isSpent of [false, true])
      test(`all waiting lookups of a valid key succeed once the first succeeds, however late, ${isSpent ? 'even from an address over its limit' : 'from an address below its limit'}`, async (t) => {
        const { keyring, clock, ask, spend, hold, answerAll } = await open(t, engine);
        const { key } = await keyring.issue(order());
        if (isSpent) spend();
        hold();
        const { runningMax, waitingPerAddressMax } = spentLane;
        const count = isSpent ? runningMax + waitingPerAddressMax : 300;
        const asked = Promise.all(Array.from({ length: count }, () => ask(key)));
        await nextTurn();
        clock.advance(lookUpWaitMsMax + 1);
        answerAll();
        assert.deepEqual(await asked, Array(count).fill('caller'));
      });

    test('unknown keys get 503 while the store fails, and do not block their queue', async (t) => {
      const { database, askMany, ask } = await open(t, engine);
      await database.close();
      for (let round = 0; round < 2; round += 1)
        await assert.rejects(ask(generateKey('stg')), { name: 'AppError', code: 'unavailable' });
      await assert.rejects(askMany(10), { name: 'AppError', code: 'unavailable' });
    });
  });
