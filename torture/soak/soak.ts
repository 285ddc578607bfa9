import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome, Scenario, TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { expectNoLeak, expectSteadyTimes, findRise, type Part } from './flat.ts';
import { runClient, type Tally } from './mixed-load.ts';

const minutes = 10;
const clients = 8;
const pauseMs = 4;
const idleMs = 5_000;
const lookMs = 250;
const ample = { perMinute: 1_000_000, perDay: 10_000_000 };

/**
 * Ten minutes of mixed load in ten parts, after a warm-up as long as one part. The scenario requires (flat.ts):
 * - no descriptor stays open
 * - the lowest memory of the parts does not rise
 * - at full scale, the median and the p99 of the response times do not rise
 * - the counts of the limits are exact
 */
export const soak: Scenario = {
  name: 'soak',
  title: 'Ten minutes of mixed load',
  minutes: minutes + 6,
  async run(context) {
    const target = await startTarget(context);
    await addFirst(target);
    const { perMinute, perDay } = ample;
    const plan = ['--plan', 'enterprise', '--per-minute', `${perMinute}`, '--per-day', `${perDay}`];
    const keys = {
      ample: await target.createKey(...plan),
      pro: await target.createKey('--plan', 'pro'),
    };
    const partMs = 60_000 * context.scale;
    const sums = { ample: emptyTally(), pro: emptyTally() };
    await runPart(context, target, keys, sums, 0, partMs);
    await rest(context.scale);
    const parts: Part[] = [];
    for (let number = 1; number <= minutes; number += 1) {
      const memory = watchMemory(context, target);
      const times = summarise(await runPart(context, target, keys, sums, number, partMs));
      await rest(context.scale);
      const part = { ...times, memoryMib: memory.end(), descriptors: target.countDescriptors() };
      parts.push(part);
      context.log(`part ${number}: ${JSON.stringify(part)}`);
    }
    expectExact(target, sums);
    expectNoLeak(parts);
    if (context.scale >= 1) expectSteadyTimes(parts);
    return describe(sums, parts, partMs);
  },
};

function describe(sums: Sums, parts: readonly Part[], partMs: number): Outcome {
  const passed = sums.ample.passed + sums.pro.passed;
  const all = passed + sums.pro.refused;
  const loadedMinutes = (partMs * parts.length) / 60_000;
  const list = (name: keyof Part) => parts.map((part) => part[name]).join(', ');
  const rise = findRise(parts.map(({ memoryMib }) => memoryMib)).toFixed(0);
  const answers = parts.reduce((sum, part) => sum + part.answers, 0);
  return {
    done: `${all} requests in a warm-up and ${loadedMinutes} measured minutes: 60 % lists, 30 % gets, 10 % adds; one client exceeded its limit`,
    seen: `${passed} × 200 and 201, ${sums.pro.refused} × 429; in each tenth of the time: median ${list('medianMs')} ms; p99 ${list('p99Ms')} ms. Lowest memory ${list('memoryMib')} MiB (trend ${rise} MiB in total); ${list('descriptors')} descriptors at rest`,
    lost: `nothing: the store had all ${sums.ample.added + sums.pro.added} animals, and the counts had all ${passed} requests`,
    well: 'at once',
    figures: { 'requests/s': Math.round(answers / (loadedMinutes * 60)) },
  };
}

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
): Promise<readonly number[]> {
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
  return timesMs;
}

function summarise(timesMs: readonly number[]): Pick<Part, 'answers' | 'medianMs' | 'p99Ms'> {
  const sorted = [...timesMs].sort((one, other) => one - other);
  const at = (part: number) => Math.round((sorted[Math.floor(sorted.length * part)] ?? 0) * 100) / 100;
  return { answers: sorted.length, medianMs: at(0.5), p99Ms: at(0.99) };
}

/** Records the lowest memory until `end`, because it is closest to the memory that remains after garbage collection. */
function watchMemory({ after }: TortureContext, target: Target) {
  let leastMib = Infinity;
  const look = () => {
    leastMib = Math.min(leastMib, target.readMemoryMib());
  };
  const looking = setInterval(look, lookMs);
  after(() => clearInterval(looking));
  return {
    end(): number {
      clearInterval(looking);
      look();
      return Math.round(leastMib);
    },
  };
}

/** Waits until pending writes are done and unused memory is freed. */
async function rest(scale: number): Promise<void> {
  await pause(Math.max(200, idleMs * scale));
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
