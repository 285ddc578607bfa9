import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createCounterStore } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import type { Decision } from '../../src/limits/rules/decision.ts';
import { freeLimits, type Limits } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import {
  createModel,
  foresee,
  type Model,
  type ModelRequest,
  takeFromModel,
} from '../contracts/counters-model.ts';
import { sqliteEngine } from '../support/engines.ts';

type Sender =
  | { readonly account: 0 | 1; readonly keyId: string; readonly limits: Limits }
  | { readonly address: string };

type Event =
  | { readonly kind: 'flush' | 'restart' | 'kill' }
  | {
      readonly kind: 'requests';
      readonly sender: Sender;
      readonly count: number;
      /** The pause before the first request. `retry-after` is the wait that the last answer asked for. */
      readonly pauseMs: number | 'retry-after';
      readonly gapMs: number;
    };

const plans: Limits[] = [
  freeLimits,
  { perMinute: 300, perDay: 10_000 },
  { perMinute: 7, perDay: 10 },
  { perMinute: 100, perDay: 90 },
];

const sender = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      account: fc.constantFrom(0 as const, 1 as const),
      keyId: fc.constantFrom('k1', 'k2'),
      limits: fc.constantFrom(...plans),
    }),
  },
  { weight: 1, arbitrary: fc.record({ address: fc.constantFrom('192.0.2.7', '2001:db8::7') }) },
);

const pauseMs = fc.oneof(
  fc.constant('retry-after' as const),
  fc.nat(3 * secondMs),
  fc.integer({ min: minuteMs - 1_500, max: minuteMs + 2 }),
  fc.nat(2 * hourMs),
  fc.integer({ min: dayMs - hourMs, max: dayMs + 2 }),
);

const requests: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant('requests'),
  sender,
  count: fc.integer({ min: 1, max: 200 }),
  pauseMs,
  gapMs: fc.constantFrom(0, 0, 1, 333, 1_001),
});

const event = fc.oneof(
  { weight: 4, arbitrary: requests },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('flush', 'restart', 'kill') }) },
);

/** Starts a limiter next to the model. Each run uses its own accounts and addresses. */
async function startRun(database: Database, run: number) {
  const time = { nowMs: Date.UTC(2027, 0, 2, 12) };
  let model = createModel();
  let kept = structuredClone(model);
  let process = await start();
  let askedSeconds = 0;

  async function start() {
    const counters = createMemoryCounters();
    const store = createCounterStore({ counters, database, clock: () => time.nowMs });
    await store.load();
    return { limiter: createLimiter({ counters, clock: () => time.nowMs }), store };
  }

  async function flush(): Promise<void> {
    await process.store.flush();
    kept = structuredClone(model);
  }

  async function kill(): Promise<void> {
    process = await start();
    model = structuredClone(kept);
  }

  async function request(from: Sender): Promise<void> {
    if ('address' in from) {
      const address = from.address.replace('192.0.', `10.${run}.`).replace('db8', run.toString(16));
      const subject = from.address;
      check(await process.limiter.takeForAddress(address), { subject, limits: freeLimits, keyId: null });
    } else {
      const keyId = `${run}-${from.account}-${from.keyId}`;
      const subject = String(from.account);
      const accountId = BigInt(2 * run + from.account + 1);
      const caller = { accountId, accountName: subject, keyId, limits: from.limits };
      check(await process.limiter.takeForKey(caller), { subject, limits: from.limits, keyId });
    }
  }

  function check(decision: Decision, modelRequest: ModelRequest): void {
    checkVerdict(decision, model, modelRequest, time.nowMs);
    checkHeaders(decision, modelRequest.limits, time.nowMs);
    checkWait(decision, model, modelRequest, time.nowMs);
    askedSeconds = decision.retryAfterSeconds;
  }

  async function play(next: Event): Promise<void> {
    if (next.kind === 'requests') {
      time.nowMs += next.pauseMs === 'retry-after' ? askedSeconds * secondMs : next.pauseMs;
      for (let sent = 0; sent < next.count; sent += 1) {
        time.nowMs += next.gapMs;
        await request(next.sender);
      }
    }
    if (next.kind === 'flush' || next.kind === 'restart') await flush();
    if (next.kind === 'kill' || next.kind === 'restart') await kill();
  }
  return { play };
}

/** Requires the verdict, the counts and the ban of the model. */
function checkVerdict(decision: Decision, model: Model, request: ModelRequest, nowMs: number): void {
  const { verdict, minuteUsed, dayUsed, bannedUntilMs } = takeFromModel(model, request, nowMs);
  const { perMinute, perDay } = request.limits;
  const codes = { passed: null, refused: 'rate_limit_exceeded', banned: 'key_banned' } as const;
  assert.equal(decision.code, codes[verdict]);
  const [minute, day] = readItems(decision.headers['ratelimit']);
  assert.equal(minute.count, bannedUntilMs > 0 ? 0 : Math.max(0, perMinute - minuteUsed));
  assert.equal(day.count, Math.max(0, perDay - dayUsed));
}

/** Requires that the headers agree with the plan, with the verdict and with each other. */
function checkHeaders({ code, retryAfterSeconds, headers }: Decision, limits: Limits, nowMs: number): void {
  const { perMinute, perDay } = limits;
  assert.deepEqual(readItems(headers['ratelimit-policy']), [
    { count: perMinute, seconds: 60 },
    { count: perDay, seconds: 86_400 },
  ]);
  const [minute, day] = readItems(headers['ratelimit']);
  const remaining = Number(headers['x-ratelimit-remaining']);
  assert.equal(remaining, Math.min(minute.count ?? -1, day.count ?? -1));
  const untilReset = Number(headers['x-ratelimit-reset']) - nowMs / secondMs;
  const described = [
    { ...minute, limit: perMinute },
    { ...day, limit: perDay },
  ].filter(
    ({ limit, count, seconds = -1 }) =>
      String(limit) === headers['x-ratelimit-limit'] &&
      count === remaining &&
      Math.abs(untilReset - seconds) < 1,
  );
  assert.notEqual(described.length, 0);
  assert.equal(headers['retry-after'], code === null ? undefined : String(retryAfterSeconds));
  assert.equal(retryAfterSeconds > 0, code !== null);
  if (code === null) return;
  assert.equal(remaining, 0);
  assert.ok(Math.abs(untilReset - retryAfterSeconds) < 1);
}

/** Requires that a request would pass after the wait in the answer, but not one second earlier. */
function checkWait(decision: Decision, model: Model, request: ModelRequest, nowMs: number): void {
  const { code, retryAfterSeconds, headers } = decision;
  if (code === null) return;
  const atMs = nowMs + retryAfterSeconds * secondMs;
  const atResetMs = Number(headers['x-ratelimit-reset']) * secondMs;
  const verdicts = [atMs, atResetMs].map((ms) => foresee(model, request, ms));
  if (code === 'key_banned') assert.ok(!verdicts.includes('banned'));
  else assert.deepEqual(verdicts, ['passed', 'passed']);
  const tooEarly = foresee(model, request, atMs - secondMs);
  if (code === 'key_banned') assert.equal(tooEarly, 'banned');
  else assert.notEqual(tooEarly, 'passed');
}

/** Parses the two items of a header such as `"minute";r=59;t=60, "day";r=999;t=86400`. */
function readItems(header = ''): readonly [minute: Item, day: Item] {
  const pattern = /^"minute";[rq]=(\d+);[tw]=(\d+), "day";[rq]=(\d+);[tw]=(\d+)$/;
  const [minuteCount, minuteSeconds, dayCount, daySeconds] = pattern.exec(header)?.slice(1).map(Number) ?? [];
  return [
    { count: minuteCount, seconds: minuteSeconds },
    { count: dayCount, seconds: daySeconds },
  ];
}

interface Item {
  readonly count: number | undefined;
  readonly seconds: number | undefined;
}

test('every verdict, header and wait matches the model for any sequence of requests, restarts and kills', async (t) => {
  const database = await (await sqliteEngine.createStore(t)).open();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 15 }), async (events) => {
      runs += 1;
      const run = await startRun(database, runs);
      for (const next of events) await run.play(next);
    }),
    { numRuns: 150 },
  );
});
