import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome, Scenario, TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { expectNoLeak, expectSteadyTimes, findRise, type Part } from './flat.ts';
import { type LoadClient, runClient } from './mixed-load.ts';

const minutes = 10;
const clients = 8;
const idleMs = 5_000;
const lookMs = 250;
const ample = { perMinute: 1_000_000, perDay: 10_000_000 };
const proPerDay = 10_000;
const firstCount = 100;

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
    const csv = join(context.folder, 'animals.csv');
    await writeFile(csv, `name,categoryId\n${'first,1\n'.repeat(firstCount)}`);
    await target.store.run('import', csv);
    const { perMinute, perDay } = ample;
    const plan = ['--plan', 'enterprise', '--per-minute', `${perMinute}`, '--per-day', `${perDay}`];
    const both = [
      await createClient(target, 4, plan),
      await createClient(target, 150, ['--plan', 'pro']),
    ] as const;
    const partMs = 60_000 * context.scale;
    await runPart(context, target, both, 0, partMs);
    await rest(context.scale);
    const parts: Part[] = [];
    for (let number = 1; number <= minutes; number += 1) {
      const memory = watchMemory(context, target);
      const times = summarise(await runPart(context, target, both, number, partMs));
      await rest(context.scale);
      const part = { ...times, memoryMib: memory.end(), descriptors: target.countDescriptors() };
      parts.push(part);
      context.log(`part ${number}: ${JSON.stringify(part)}`);
    }
    await expectExact(target, both);
    expectNoLeak(parts);
    if (context.scale >= 1) expectSteadyTimes(parts);
    return describe(both, parts, partMs);
  },
};

/** Two kinds of clients: many with ample limits, and one that exceeds its limit. */
type Both = readonly [many: LoadClient, pro: LoadClient];

async function createClient(
  { store }: Target,
  pauseMs: number,
  plan: readonly string[],
): Promise<LoadClient> {
  const { key } = await store.createKey(...plan);
  const mayBeRefused = plan.includes('pro');
  return { key, pauseMs, mayBeRefused, passed: 0, refused: 0, added: 0, leftOfDay: Infinity };
}

function describe([many, pro]: Both, parts: readonly Part[], partMs: number): Outcome {
  const passed = many.passed + pro.passed;
  const all = passed + pro.refused;
  const loadedMinutes = (partMs * parts.length) / 60_000;
  const list = (name: keyof Part) => parts.map((part) => part[name]).join(', ');
  const rise = findRise(parts.map(({ memoryMib }) => memoryMib)).toFixed(0);
  return {
    done: `${all} requests in a warm-up and ${loadedMinutes} measured minutes: 60 % lists, 30 % gets, 10 % adds; one client exceeded its limit`,
    seen: `${passed} × 200 and 201, ${pro.refused} × 429; in each tenth of the time: median ${list('medianMs')} ms; p99 ${list('p99Ms')} ms. Lowest memory ${list('memoryMib')} MiB (trend ${rise} MiB in total); ${list('descriptors')} descriptors at rest`,
    lost: `nothing: the store had all ${many.added + pro.added} animals, and the counts had all ${passed} requests`,
    well: 'at once',
  };
}

/** Runs all clients for a part of the time. Returns the times of the answers. */
async function runPart(
  context: TortureContext,
  target: Target,
  [many, pro]: Both,
  part: number,
  partMs: number,
): Promise<readonly number[]> {
  const endMs = performance.now() + partMs;
  const timesMs: number[] = [];
  const run = (client: LoadClient, index: number) =>
    runClient(
      context,
      target,
      client,
      context.seed + part * 100 + index,
      () => performance.now() >= endMs,
      (ms) => timesMs.push(ms),
    );
  await Promise.all([...Array.from({ length: clients }, (_, index) => run(many, index)), run(pro, clients)]);
  return timesMs;
}

function summarise(timesMs: readonly number[]): Pick<Part, 'medianMs' | 'p99Ms'> {
  const sorted = [...timesMs].sort((one, other) => one - other);
  const at = (part: number) => Math.round((sorted[Math.floor(sorted.length * part)] ?? 0) * 100) / 100;
  return { medianMs: at(0.5), p99Ms: at(0.99) };
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

async function expectExact({ store }: Target, [many, pro]: Both): Promise<void> {
  assert.equal(ample.perDay - many.leftOfDay, many.passed, 'requests counted for the account');
  assert.equal(proPerDay - pro.leftOfDay, pro.passed, 'requests counted for the account beyond its limit');
  const [row] = await store.query('select count(*) as count from pets');
  assert.equal(Number(row?.['count']), firstCount + many.added + pro.added, 'animals');
}
