import assert from 'node:assert/strict';
import { share } from '../abuse/abuse.ts';
import type { Outcome, Scenario, TortureContext } from '../scenario.ts';
import {
  finish,
  passPhase,
  requireAloneAtMost,
  requireExact,
  requireHealthy,
  type SlowWay,
  startSlowWay,
  timeAnswers,
  untilWell,
} from './slow-way.ts';

const addsAtFullScale = 500;
const hangMs = 30_000;
/** A hung PostgreSQL is given up after 2 s for a connection and 6 s for an answer. */
const refusalMsMax = 8_000;
/** How long an instance waits for Redis. */
const patienceMs = 200;
const load = '2 instances, each under 8 writers and 4 readers';

/** Every answer takes longer, and no other one is given. */
async function requireServed(way: SlowWay, { scale }: TortureContext) {
  const countSeen = await passPhase(way, Math.max(20, share(addsAtFullScale, scale)));
  await requireHealthy(way);
  assert.equal(countSeen('add 503') + countSeen('read 503'), 0, 'a request was refused by what is only slow');
  return { adds: countSeen('add 201'), reads: countSeen('read 200') };
}

export function slowPostgres(ms: number): Scenario {
  return {
    name: `postgres-${ms}ms`,
    title: `each answer of PostgreSQL takes ${ms} ms more`,
    minutes: 5,
    async run(context): Promise<Outcome> {
      const way = await startSlowWay(context, 'postgres');
      way.relay.delay(ms);
      const { adds, reads } = await requireServed(way, context);
      await requireExact(way);
      way.relay.delay(0);
      await requireServed(way, context);
      const kept = await finish(way);
      return {
        done: `Each answer of PostgreSQL took ${ms} ms more; ${load}`,
        seen: `Nothing but the wait: ${adds} adds and ${reads} reads; the limits exact across both; /healthz 200`,
        lost: `Nothing of ${kept} adds`,
        well: 'At once',
        figures: { adds, reads },
      };
    },
  };
}

export function slowRedis(ms: number): Scenario {
  const isWaitedFor = ms < patienceMs;
  return {
    name: `redis-${ms}ms`,
    title: `each answer of Redis takes ${ms} ms more`,
    minutes: 5,
    async run(context): Promise<Outcome> {
      const way = await startSlowWay(context, 'redis');
      way.relay.delay(ms);
      const { adds, reads } = await requireServed(way, context);
      const passed = isWaitedFor ? await requireExact(way) : await requireAloneAtMost(way);
      way.relay.delay(0);
      await requireServed(way, context);
      await requireExact(way);
      const kept = await finish(way);
      const limits = isWaitedFor
        ? 'the limits exact across both'
        : `each instance counted for itself, ${passed} of a limit of 300 passed`;
      return {
        done: `Each answer of Redis took ${ms} ms more; ${load}`,
        seen: `No refusal: ${adds} adds and ${reads} reads; ${limits}; /healthz 200`,
        lost: `Nothing of ${kept} adds`,
        well: 'At once; the limits were exact again',
        figures: { adds, reads },
      };
    },
  };
}

export const slowStores: readonly Scenario[] = [
  slowPostgres(20),
  slowPostgres(300),
  slowRedis(20),
  slowRedis(300),
];

/** Lets nothing through for a time, in which each instance is healthy; gives how long the slowest answer took. */
async function hang(way: SlowWay, { scale }: TortureContext): Promise<number> {
  const endsAtMs = performance.now() + Math.max(2_000, hangMs * scale);
  for (const { begin } of way.loads) begin();
  way.relay.silence();
  let slowestMs = 0;
  while (performance.now() < endsAtMs) {
    await requireHealthy(way);
    slowestMs = Math.max(slowestMs, await timeAnswers(way));
  }
  return slowestMs;
}

export const hangingPostgres: Scenario = {
  name: 'postgres-hangs',
  title: 'PostgreSQL answers nothing any more, and later again',
  minutes: 5,
  async run(context): Promise<Outcome> {
    const way = await startSlowWay(context, 'postgres');
    const slowestMs = await hang(way, context);
    // A short run is beside other tests, which add their own time.
    assert.ok(context.scale < 1 || slowestMs < refusalMsMax + 1_000, `an answer took ${slowestMs} ms`);
    const refused = way.loads.reduce((sum, { seen }) => sum + (seen.get('add 503') ?? 0), 0);
    await way.relay.mend();
    const wellMs = await untilWell(way);
    await requireServedAgain(way, context);
    const kept = await finish(way);
    return {
      done: `PostgreSQL answered nothing for ${Math.max(2, (hangMs / 1_000) * context.scale)} s; ${load}`,
      seen: `503 \`unavailable\`, or what is known; new requests were answered within ${slowestMs} ms; /healthz 200`,
      lost: `Nothing of ${kept} adds`,
      well: `${wellMs} ms after it answered again`,
      figures: { refused, 'slowest answer, ms': slowestMs },
    };
  },
};

export const hangingRedis: Scenario = {
  name: 'redis-hangs',
  title: 'Redis answers nothing any more, and later again',
  minutes: 5,
  async run(context): Promise<Outcome> {
    const way = await startSlowWay(context, 'redis');
    const slowestMs = await hang(way, context);
    const { adds, reads } = await requireServed(way, context);
    const passed = await requireAloneAtMost(way);
    await way.relay.mend();
    await requireServedAgain(way, context);
    const kept = await finish(way);
    return {
      done: `Redis answered nothing for ${Math.max(2, (hangMs / 1_000) * context.scale)} s; ${load}`,
      seen: `No refusal: ${adds} adds and ${reads} reads, the slowest answer after ${slowestMs} ms; each instance counted for itself, ${passed} of a limit of 300 passed; /healthz 200`,
      lost: `Nothing of ${kept} adds`,
      well: 'Once it answered again; the limits were exact again',
      figures: { 'slowest answer, ms': slowestMs },
    };
  },
};

async function requireServedAgain(way: SlowWay, context: TortureContext): Promise<void> {
  // Requests that had begun may still be refused.
  await passPhase(way, 20);
  await requireServed(way, context);
  await requireExact(way);
}
