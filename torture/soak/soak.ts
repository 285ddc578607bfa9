import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { Scenario, TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { runClient, type Tally } from './mixed-load.ts';

const minutes = 10;
const clients = 8;
const pauseMs = 4;
const idleMs = 5_000;
const ample = { perMinute: 1_000_000, perDay: 10_000_000 };
/** What is kept ready may grow to 128 MiB; what else grows is a leak. */
const growthMibMax = 128 + 64;
const descriptorsMax = 5;

interface Minute {
  readonly answers: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** What the service holds when nothing is asked of it. */
interface Idle {
  readonly memoryMib: number;
  readonly descriptors: number;
}

/**
 * Mixed load for 10 minutes. Between the first and the last: memory at rest grows by no more than what is kept ready
 * and 64 MiB, no descriptor stays open, the median of a request at most doubles (and 2 ms). The counts are exact.
 */
export const soak: Scenario = {
  name: 'soak',
  title: 'Ten minutes of mixed load',
  minutes: minutes + 5,
  async run(context) {
    const target = await startTarget(context);
    await addFirst(target);
    const keys = {
      ample: await target.createKey(
        '--plan',
        'enterprise',
        '--per-minute',
        `${ample.perMinute}`,
        '--per-day',
        `${ample.perDay}`,
      ),
      pro: await target.createKey('--plan', 'pro'),
    };
    const partMs = (minutes * 60_000 * context.scale) / minutes;
    const sums = { ample: emptyTally(), pro: emptyTally() };
    const minutesSeen: Minute[] = [];
    const idles: Idle[] = [];
    for (let part = 0; part < minutes; part += 1) {
      minutesSeen.push(await runPart(context, target, keys, sums, part, partMs));
      if (part === 0 || part === minutes - 1) idles.push(await rest(target, context.scale));
      const { answers, medianMs, p99Ms } = minutesSeen[part] ?? assert.fail();
      context.log(
        `part ${part + 1}: ${answers} answers, median ${medianMs} ms, p99 ${p99Ms} ms, ${Math.round(target.readMemoryMib())} MiB`,
      );
    }
    const [first, last] = [minutesSeen[0] ?? assert.fail(), minutesSeen.at(-1) ?? assert.fail()];
    const [before, after] = [idles[0] ?? assert.fail(), idles[1] ?? assert.fail()];
    expectExact(target, sums);
    expectFlat(before, after, first, last);
    const passed = sums.ample.passed + sums.pro.passed;
    return {
      done: `${passed + sums.pro.refused} requests in ${(partMs * minutes) / 60_000} min: 60 % lists, 30 % gets, 10 % adds, one client beyond its limit`,
      seen: `${passed} × 200 and 201, ${sums.pro.refused} × 429; the median ${first.medianMs} ms in the first tenth, ${last.medianMs} ms in the last`,
      lost: `nothing: ${sums.ample.added + sums.pro.added} animals as answered, ${passed} requests as counted`,
      well: 'at once',
      figures: {
        'requests/s': Math.round((passed + sums.pro.refused) / ((partMs * minutes) / 1_000)),
        'median, first and last tenth, ms': `${first.medianMs}, ${last.medianMs}`,
        'p99, first and last tenth, ms': `${first.p99Ms}, ${last.p99Ms}`,
        'memory at rest, MiB': `${before.memoryMib}, ${after.memoryMib}`,
        'descriptors at rest': `${before.descriptors}, ${after.descriptors}`,
      },
    };
  },
};

const emptyTally = (): Tally => ({ passed: 0, refused: 0, added: 0, leftOfDay: 0 });

type Keys = Readonly<Record<'ample' | 'pro', { readonly key: string }>>;
type Sums = Readonly<Record<'ample' | 'pro', Tally>>;

async function runPart(
  context: TortureContext,
  target: Target,
  keys: Keys,
  sums: Sums,
  part: number,
  partMs: number,
) {
  const endMs = performance.now() + partMs;
  const timesMs: number[] = [];
  const isOver = () => performance.now() >= endMs;
  const run = async (name: 'ample' | 'pro', own: number, index: number) => {
    const client = { key: keys[name].key, pauseMs: own, mayBeRefused: name === 'pro' };
    const seed = context.seed + part * 100 + index;
    const tally = await runClient(context, target, client, seed, isOver, (ms) => timesMs.push(ms));
    const sum = sums[name];
    sum.passed += tally.passed;
    sum.refused += tally.refused;
    sum.added += tally.added;
    sum.leftOfDay = sum.leftOfDay === 0 ? tally.leftOfDay : Math.min(sum.leftOfDay, tally.leftOfDay);
  };
  const all = Array.from({ length: clients }, (_, index) => run('ample', pauseMs, index));
  await Promise.all([...all, run('pro', 150, clients)]);
  return summarise(timesMs);
}

function summarise(timesMs: readonly number[]): Minute {
  const sorted = [...timesMs].sort((one, other) => one - other);
  const at = (part: number) => Math.round((sorted[Math.floor(sorted.length * part)] ?? 0) * 100) / 100;
  return { answers: sorted.length, medianMs: at(0.5), p99Ms: at(0.99) };
}

/** Long enough for what waits to be written and what is done with to be let go. */
async function rest(target: Target, scale: number): Promise<Idle> {
  await pause(Math.max(500, idleMs * scale));
  return { memoryMib: Math.round(target.readMemoryMib()), descriptors: target.countDescriptors() };
}

async function addFirst(target: Target): Promise<void> {
  const { key } = await target.createKey();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (let number = 0; number < firstCount; number += 1) {
    const body = JSON.stringify({ name: `first ${number}`, categoryId: number });
    const answer = await fetch(`${target.url}/pets`, { method: 'POST', headers, body });
    assert.equal(answer.status, 201);
    await answer.body?.cancel();
  }
}

const firstCount = 100;

function expectExact({ databaseUrl }: Target, { ample: many, pro }: Sums): void {
  assert.equal(ample.perDay - many.leftOfDay, many.passed, 'requests counted for the account');
  assert.equal(10_000 - pro.leftOfDay, pro.passed, 'requests counted for the account beyond its limit');
  const file = new DatabaseSync(databaseUrl.replace('sqlite:', ''), { readOnly: true });
  const count = Number(file.prepare('select count(*) as count from pets').get()?.['count']);
  file.close();
  assert.equal(count, firstCount + many.added + pro.added, 'animals');
}

function expectFlat(before: Idle, after: Idle, first: Minute, last: Minute): void {
  assert.ok(
    after.memoryMib - before.memoryMib < growthMibMax,
    `memory: ${before.memoryMib}, ${after.memoryMib}`,
  );
  assert.ok(
    after.descriptors - before.descriptors <= descriptorsMax,
    `descriptors: ${before.descriptors}, ${after.descriptors}`,
  );
  assert.ok(last.medianMs <= 2 * first.medianMs + 2, `median: ${first.medianMs}, ${last.medianMs}`);
}
