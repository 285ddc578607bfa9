import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import type { Counters } from '../../src/limits/counters.ts';
import { decide, type Usage } from '../../src/limits/rules/decision.ts';
import type { Limits } from '../../src/plans/plan.ts';
import { readHeader } from '../support/expect-error.ts';
import { createModel, foresee, type Model, type ModelRequest, takeFromModel } from './counters-model.ts';

/** An implementation of counters that the contract tests check. */
export interface CountersEngine {
  readonly name: string;
  /** The reason if this machine cannot run the tests, otherwise false. */
  readonly skip: string | false;
  /** Creates counters. `addressesMax` defaults to the bound of the program. */
  createCounters(test: Pick<TestContext, 'after'>, addressesMax?: number): Promise<Counters>;
}

const free: Limits = { perMinute: 60, perDay: 1_000 };

/** Contract tests of src/limits/counters.ts. */
export function describeCounters(engine: CountersEngine): void {
  async function open(t: Pick<TestContext, 'after'>) {
    const counters = await engine.createCounters(t);
    const subject = `account:${randomUUID()}`;
    const keyId = randomUUID();
    const startMs = Date.now();

    const take = async (atMs: number, limits = free, key = keyId) =>
      counters.take(subject, limits, key, startMs + atMs);

    /** Counts requests that all arrive at the same time. Returns the last answer. */
    async function send(count: number, atMs: number, limits = free, key = keyId): Promise<Usage> {
      const usages = await Promise.all(Array.from({ length: count }, () => take(atMs, limits, key)));
      return usages.at(-1) ?? assert.fail('nothing was sent');
    }

    /** Uses up the day window of a plan with one request a day, then sends requests until the key is banned. */
    async function provokeBan(atMs: number): Promise<Usage> {
      // Redis forgets a window by its own clock, so one of the later requests may pass.
      await take(atMs, once);
      return send(60, atMs, once);
    }
    return { counters, subject, keyId, startMs, take, send, provokeBan };
  }

  const once: Limits = { perMinute: 1, perDay: 1 };

  describe(`counting windows with ${engine.name}`, { skip: engine.skip }, () => {
    test('a window opens with its first request and resets 60 s later, to the millisecond', async (t) => {
      const { take, send, startMs } = await open(t);
      assert.deepEqual(await take(0), {
        verdict: 'passed',
        atMs: startMs,
        minute: { used: 1, endsAtMs: startMs + minuteMs },
        day: { used: 1, endsAtMs: startMs + dayMs },
        bannedUntilMs: 0,
      });
      await send(59, 30 * secondMs);
      assert.equal((await take(minuteMs - 1)).verdict, 'refused');
      const { verdict, minute, day } = await take(minuteMs);
      assert.deepEqual([verdict, minute.used, day.used], ['passed', 1, 61]);
    });

    for (const [limits, windowMs] of [
      [free, minuteMs],
      [once, dayMs],
    ] as const)
      test(`a clock that is set back refuses requests for at most one window of ${windowMs} ms`, async (t) => {
        const { take, send } = await open(t);
        await send(limits.perMinute, 2 * dayMs, limits);
        assert.equal((await take(0, limits)).verdict, 'refused');
        assert.equal((await take(windowMs, limits)).verdict, 'passed');
      });

    for (const kind of ['account', 'address'])
      test(`looking at an ${kind} counts nothing and returns both windows`, async (t) => {
        const { counters, keyId, startMs } = await open(t);
        const name = `${kind}:${keyId}`;
        const look = async (atMs: number) => counters.look(name, startMs + atMs);
        const unopened = { minute: { used: 0, endsAtMs: 0 }, day: { used: 0, endsAtMs: 0 } };
        assert.partialDeepStrictEqual(await look(0), { verdict: 'passed', ...unopened });
        await counters.take(name, free, kind === 'account' ? keyId : null, startMs);
        const both = {
          verdict: 'passed',
          minute: { used: 1, endsAtMs: startMs + minuteMs },
          day: { used: 1 },
        };
        for (let count = 0; count < 2; count += 1) assert.partialDeepStrictEqual(await look(1), both);
        assert.partialDeepStrictEqual(await look(minuteMs), {
          minute: { used: 0, endsAtMs: 0 },
          day: { used: 1 },
        });
      });
  });

  describe(`banning keys with ${engine.name}`, { skip: engine.skip }, () => {
    for (const limits of [free, { perMinute: 300, perDay: 10_000 }])
      test(`as many refusals as the plan allows requests, ${limits.perMinute}, ban a key for 60 s`, async (t) => {
        const { take, send, startMs } = await open(t);
        await send(limits.perMinute, 0, limits);
        assert.equal((await send(limits.perMinute - 1, 0, limits)).bannedUntilMs, 0);
        const { verdict, bannedUntilMs } = await take(10, limits);
        assert.deepEqual([verdict, bannedUntilMs], ['refused', startMs + 10 + minuteMs]);
        assert.equal((await take(9 + minuteMs, limits)).verdict, 'banned');
        assert.equal((await take(10 + minuteMs, limits)).verdict, 'passed');
      });

    test('only refusals within 60 s of the first one lead to a ban', async (t) => {
      const { take, send } = await open(t);
      await take(0, once);
      await take(0, once);
      assert.equal((await send(58, minuteMs - 1, once)).bannedUntilMs, 0);
      assert.equal((await send(59, minuteMs, once)).bannedUntilMs, 0);
      assert.notEqual((await take(2 * minuteMs - 1, once)).bannedUntilMs, 0);
    });

    test('a lifted ban ends immediately and does not lengthen the next one', async (t) => {
      const { counters, subject, keyId, take, provokeBan, startMs } = await open(t);
      await provokeBan(0);
      await provokeBan(minuteMs);
      assert.equal((await take(minuteMs, once)).bannedUntilMs, startMs + 3 * minuteMs);
      await counters.lift(subject, keyId, startMs + minuteMs);
      assert.deepEqual([(await take(minuteMs, once)).verdict], ['refused']);
      const { bannedUntilMs } = await provokeBan(minuteMs + 1);
      assert.equal(bannedUntilMs, startMs + minuteMs + 1 + minuteMs);
    });

    test('a lift that is applied late and again forgets its ban, but no refusal and no ban after it', async (t) => {
      const { counters, subject, keyId, take, send, provokeBan, startMs } = await open(t);
      await provokeBan(0);
      await send(59, minuteMs, once);
      for (const _ of ['late', 'again']) await counters.lift(subject, keyId, startMs);
      const { bannedUntilMs } = await take(minuteMs, once);
      assert.equal(bannedUntilMs, startMs + 2 * minuteMs);
      await counters.lift(subject, keyId, startMs);
      assert.equal((await take(minuteMs + 1, once)).bannedUntilMs, bannedUntilMs);
      await counters.lift(subject, keyId, startMs + minuteMs);
      assert.equal((await take(minuteMs + 1, once)).verdict, 'refused');
    });

    test('a reset closes only the windows that began at its time or before', async (t) => {
      const { counters, subject, take, startMs } = await open(t);
      for (const atMs of [0, 1]) await take(atMs);
      await counters.reset(subject, startMs - 1);
      assert.equal((await take(2)).day.used, 3);
      await counters.reset(subject, startMs);
      const { verdict, minute, day } = await take(3);
      assert.deepEqual([verdict, minute.used, day.used], ['passed', 1, 1]);
      await counters.reset('account:99', startMs);
    });

    test('each ban within a day of the previous one is twice as long, up to an hour', async (t) => {
      const { provokeBan, startMs } = await open(t);
      const seconds: number[] = [];
      for (let atMs = 0; seconds.length < 8; ) {
        const { bannedUntilMs } = await provokeBan(atMs);
        seconds.push((bannedUntilMs - startMs - atMs) / secondMs);
        atMs = bannedUntilMs - startMs;
      }
      assert.deepEqual(seconds, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    });

    test('a ban that begins a day after the start of the previous ban takes 60 s again', async (t) => {
      const { provokeBan, startMs } = await open(t);
      await provokeBan(0);
      const earlier = await provokeBan(dayMs - 1);
      assert.equal(earlier.bannedUntilMs - startMs, dayMs - 1 + 2 * minuteMs);
      const later = await provokeBan(2 * dayMs - 1);
      assert.equal(later.bannedUntilMs - startMs, 2 * dayMs - 1 + minuteMs);
    });

    test('refusals do not count if the clock was set back after them by more than their window', async (t) => {
      const { take, send } = await open(t);
      await send(1 + 59, dayMs, once);
      assert.equal((await take(0, once)).bannedUntilMs, 0);
      assert.equal((await send(58, 0, once)).bannedUntilMs, 0);
      assert.notEqual((await take(0, once)).bannedUntilMs, 0);
    });

    test('a clock that is set back restarts a ban at most once', async (t) => {
      const { provokeBan, take } = await open(t);
      await provokeBan(dayMs);
      assert.equal((await take(0)).verdict, 'banned');
      assert.notEqual((await take(minuteMs)).verdict, 'banned');
    });
  });

  describeFullTable(engine);

  test(`${engine.name} counts every random sequence of requests as the model does`, {
    skip: engine.skip,
  }, async (t) => {
    const counters = await engine.createCounters(t);
    await fc.assert(
      fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 12 }), async (bursts) => {
        const model = createModel();
        const run = randomUUID();
        let nowMs = Date.now();
        for (const { pauseMs, caller, limits, count, gapMs } of bursts) {
          nowMs += pauseMs;
          const subject = `${caller.subject}:${run}`;
          const keyId = caller.keyId === null ? null : `${caller.keyId}:${run}`;
          const times = Array.from({ length: count }, (_, sent) => nowMs + (sent + 1) * gapMs);
          nowMs += count * gapMs;
          const usages = times.map((atMs) => counters.take(subject, limits, keyId, atMs));
          const expected = times.map((atMs) => {
            const usage = takeFromModel(model, { subject, limits, keyId }, atMs);
            checkWait(model, { subject, limits, keyId }, usage);
            return usage;
          });
          assert.deepEqual(await Promise.all(usages), expected);
        }
      }),
      { numRuns: 60 },
    );
  });
}

/** Requires that a request would pass after the wait and at the reset in the answer, but not one second before the wait. */
function checkWait(model: Model, request: ModelRequest, usage: Usage): void {
  const { code, retryAfterSeconds, headers } = decide(usage, request.limits);
  if (code === null) return;
  const afterMs = usage.atMs + retryAfterSeconds * secondMs;
  const times = [afterMs - secondMs, afterMs, Number(readHeader(headers, 'x-ratelimit-reset')) * secondMs];
  const isRefused = times.map((atMs) => {
    const verdict = foresee(model, request, atMs);
    return code === 'key_banned' ? verdict === 'banned' : verdict !== 'passed';
  });
  assert.deepEqual(isRefused, [true, false, false]);
}

/** Contract tests of counters whose bound of addresses is reached. */
function describeFullTable(engine: CountersEngine): void {
  const limits: Limits = { perMinute: 3, perDay: 5 };
  const places = 160;

  /** Creates counters. `take` counts a request from an address and returns its count of this day. */
  async function open(t: Pick<TestContext, 'after'>, kind = 'address') {
    const counters = await engine.createCounters(t, places);
    const startMs = Date.now();
    const take = async (name: string, atMs = 0) =>
      (await counters.take(`${kind}:${name}`, limits, null, startMs + atMs)).day.used;
    async function takeFromMany(count: number, atMs: number, name = 'stranger') {
      for (let sent = 0; sent < count; sent += 1) await take(`${name}-${sent}`, atMs);
    }
    return { counters, startMs, take, takeFromMany };
  }

  describe(`a new address beyond the bound of ${engine.name}`, { skip: engine.skip }, () => {
    test('has its own count until it is the address seen longest ago', async (t) => {
      const { take, takeFromMany } = await open(t);
      await take('first');
      await take('second', 1);
      await takeFromMany(places - 2, 2);
      assert.deepEqual([await take('first', 3), await take('second', 4)], [2, 2]);
      assert.equal(await take('newcomer', 5), 1);
      const used = [await take('first', 6), await take('second', 7), await take('newcomer', 8)];
      assert.deepEqual(used, [3, 3, 2]);
      assert.equal(await take('stranger-0', 9), 1);
    });

    test('takes no place of an address that keeps sending, even if its requests are refused', async (t) => {
      const { counters, startMs, take, takeFromMany } = await open(t);
      for (let sent = 0; sent < limits.perMinute; sent += 1) await take('busy');
      await takeFromMany(places - 1, 1);
      await take('busy', 2);
      await takeFromMany(places - 1, 3, 'newcomer');
      const { verdict } = await counters.take('address:busy', limits, null, startMs + 4);
      assert.equal(verdict, 'refused');
    });

    for (const [kind, other] of [
      ['address', 'reader'],
      ['reader', 'address'],
    ] as const)
      test(`of kind ${kind} does not affect the counts of kind ${other}`, async (t) => {
        const { counters, startMs, takeFromMany } = await open(t, kind);
        const takeOther = () => counters.take(`${other}:first`, limits, null, startMs);
        await takeOther();
        await takeFromMany(places + 1, 0);
        assert.equal((await takeOther()).day.used, 2);
      });
  });
}

const burst = fc.record({
  pauseMs: fc.oneof(
    fc.nat(2 * secondMs),
    fc.integer({ min: minuteMs - 2, max: minuteMs + 2 }),
    fc.nat(2 * hourMs),
    fc.integer({ min: dayMs - hourMs, max: dayMs + 2 }),
  ),
  caller: fc.constantFrom(
    { subject: 'account:a', keyId: 'a1' },
    { subject: 'account:a', keyId: 'a2' },
    { subject: 'account:b', keyId: 'b1' },
    { subject: 'address:c', keyId: null },
  ),
  limits: fc.constantFrom<Limits>({ perMinute: 7, perDay: 10 }, { perMinute: 10, perDay: 7 }, free, {
    perMinute: 70,
    perDay: 90,
  }),
  count: fc.integer({ min: 1, max: 150 }),
  gapMs: fc.constantFrom(0, 0, 1, 390, 1_100),
});
