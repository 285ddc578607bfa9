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
/** The service gives up on a hung PostgreSQL after 2 s for a connection and 6 s for an answer. */
const refusalMsMax = 8_000;
/** The time that an instance waits for an answer of Redis. */
const patienceMs = 200;
const load = '2 instances, each with 8 writers and 4 readers';

/** Requires that the service refuses no request. Returns the numbers of adds and reads. */
async function requireServed(way: SlowWay, { scale }: TortureContext) {
  const countSeen = await passPhase(way, Math.max(20, share(addsAtFullScale, scale)));
  await requireHealthy(way);
  assert.equal(
    countSeen('add 503') + countSeen('read 503'),
    0,
    'a request was refused although its store was only slow',
  );
  return { adds: countSeen('add 201'), reads: countSeen('read 200') };
}

export function slowPostgres(ms: number): Scenario {
  return {
    name: `postgres-${ms}ms`,
    title: `each answer of PostgreSQL takes ${ms} ms longer`,
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
        done: `Each answer of PostgreSQL took ${ms} ms longer; ${load}`,
        seen: `Only slower answers: ${adds} adds and ${reads} reads; the limits stayed exact across both instances; /healthz 200`,
        lost: `None of ${kept} answered adds`,
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
    title: `each answer of Redis takes ${ms} ms longer`,
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
        ? 'the limits stayed exact across both instances'
        : `each instance counted alone, so ${passed} requests passed a limit of 300`;
      return {
        done: `Each answer of Redis took ${ms} ms longer; ${load}`,
        seen: `No refusal: ${adds} adds and ${reads} reads; ${limits}; /healthz 200`,
        lost: `None of ${kept} answered adds`,
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

/**
 * Blocks the connection to the store for 30 s at scale 1, and requires that each instance stays healthy. Returns the
 * time of the slowest answer.
 */
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
  title: 'PostgreSQL stops answering, and later answers again',
  minutes: 5,
  async run(context): Promise<Outcome> {
    const way = await startSlowWay(context, 'postgres');
    const slowestMs = await hang(way, context);
    // In a short run, other tests slow the machine down, so the time is not checked.
    assert.ok(context.scale < 1 || slowestMs < refusalMsMax + 1_000, `an answer took ${slowestMs} ms`);
    const refused = way.loads.reduce((sum, { seen }) => sum + (seen.get('add 503') ?? 0), 0);
    await way.relay.mend();
    const wellMs = await untilWell(way);
    await requireServedAgain(way, context);
    const kept = await finish(way);
    return {
      done: `PostgreSQL did not answer for ${Math.max(2, (hangMs / 1_000) * context.scale)} s; ${load}`,
      seen: `503 \`unavailable\`, or an answer that the instance had in memory; new requests were answered within ${slowestMs} ms; /healthz 200`,
      lost: `None of ${kept} answered adds`,
      well: `${wellMs} ms after it answered again`,
      figures: { refused, 'slowest answer, ms': slowestMs },
    };
  },
};

export const hangingRedis: Scenario = {
  name: 'redis-hangs',
  title: 'Redis stops answering, and later answers again',
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
      done: `Redis did not answer for ${Math.max(2, (hangMs / 1_000) * context.scale)} s; ${load}`,
      seen: `No refusal: ${adds} adds and ${reads} reads, the slowest answer after ${slowestMs} ms; each instance counted alone, so ${passed} requests passed a limit of 300; /healthz 200`,
      lost: `None of ${kept} answered adds`,
      well: 'Once it answered again; the limits were exact again',
      figures: { 'slowest answer, ms': slowestMs },
    };
  },
};

async function requireServedAgain(way: SlowWay, context: TortureContext): Promise<void> {
  // The service may still refuse requests that began before the store answered again.
  await passPhase(way, 20);
  await requireServed(way, context);
  await requireExact(way);
}
