import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Entrant,
  enter,
  type Run,
  recordService,
  runOnce,
  type Site,
  type Terms,
  warmUps,
} from './entrant.ts';
import type { RunningServer } from './processes.ts';
import type { Scenario } from './scenarios.ts';
import { compareRounds, medianOf, type Spread, spreadOf } from './statistics.ts';
import { bare, type Subject } from './subjects.ts';

/** What one subject did in one scenario: medians over the rounds. */
export interface Measured {
  readonly scenario: Scenario;
  readonly subject: string;
  /** Its requests per second divided by the bare server's of the same round. */
  readonly ratio: Spread;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Server CPU per request, in microseconds. */
  readonly cpuUs: number | null;
  /** Which share of one core the server used. */
  readonly coreShare: number | null;
  readonly memoryMib: number | null;
  readonly coldStartMs: number;
  /** Requests per second of each round, in the order of the rounds. */
  readonly rates: readonly number[];
  /** The same for the server CPU per request. */
  readonly cpuUsOfRounds: readonly (number | null)[];
}

/**
 * Measures the subjects in one scenario, each on a fresh copy of each site's store: all are started and warmed up, then they
 * are loaded in turn, round after round, every other round in the reverse order, each once the last one has come to rest
 * and the machine is as quiet as the terms want it; the others are halted meanwhile, and only hold memory. A peer that fails
 * is left out and named; if anything else fails, so does the measurement. Gives what was measured on each site, in their order.
 */
export async function measureScenario(
  scenario: Scenario,
  subjects: readonly Subject[],
  { rounds, seconds, quiet }: Terms,
  sites: readonly Site[],
): Promise<Measured[][]> {
  const entrants = new Set<Entrant>();
  try {
    for (const site of sites) await enterAll(entrants, subjects, scenario, site);
    for (const connections of warmUps)
      for (const entrant of [...entrants]) await tryLoad(entrants, entrant, seconds, connections);
    for (let round = 0; round < rounds * (scenario.timesRounds ?? 1); round += 1) {
      const order = round % 2 === 0 ? [...entrants] : [...entrants].reverse();
      for (const entrant of order) {
        const run = await quiet.measure(entrant.subject.name, () => tryLoad(entrants, entrant, seconds));
        if (run !== null) entrant.runs.push(run);
      }
    }
    return sites.map((site) =>
      summarise(
        scenario,
        [...entrants].filter((entrant) => entrant.site === site),
      ),
    );
  } finally {
    for (const { server } of entrants) await server.stop();
  }
}

async function enterAll(
  entrants: Set<Entrant>,
  subjects: readonly Subject[],
  scenario: Scenario,
  site: Site,
): Promise<void> {
  const recordedFile = await recordService(scenario, site);
  for (const subject of subjects)
    await attempt(subject, async () => {
      const entrant = await enter(subject, scenario, recordedFile, site);
      entrants.add(entrant);
      await rest(entrant.server);
    });
}

/** Loads an entrant whose server was halted, and halts it again; null, and it is left out from then on, where that fails. */
async function tryLoad(
  entrants: Set<Entrant>,
  entrant: Entrant,
  seconds: number,
  connections?: number,
): Promise<Run | null> {
  if (!entrants.has(entrant)) return null;
  const run = await attempt(entrant.subject, async () => {
    entrant.server.goOn();
    await untilAtRest(entrant.server);
    return runOnce(entrant, seconds, connections);
  });
  if (run !== null) await rest(entrant.server);
  else {
    entrants.delete(entrant);
    await entrant.server.stop();
  }
  return run;
}

const restLookMs = 100;
const restWaitMsMax = 15_000;

/** Halts a server that has come to rest, and waits until the disk has what it wrote, so that neither slows the next one down. */
async function rest(server: RunningServer): Promise<void> {
  await untilAtRest(server);
  server.halt();
  // Where there is no such command the system writes when it sees fit.
  spawnSync('sync');
}

/** Waits until a server has done what its load left behind, or what fell due while it was halted. */
async function untilAtRest({ readCpuMs }: RunningServer): Promise<void> {
  const lastAtMs = performance.now() + restWaitMsMax;
  let usedMs = readCpuMs() ?? 0;
  for (let isBusy = true; isBusy && performance.now() < lastAtMs; ) {
    await pause(restLookMs);
    const nowMs = readCpuMs() ?? 0;
    isBusy = nowMs - usedMs > restLookMs / 10;
    usedMs = nowMs;
  }
}

/** What a task gives; null, named on standard error, where it fails with a peer. Throws where anything else fails. */
async function attempt<T>({ name, isPeer }: Subject, task: () => Promise<T>): Promise<T | null> {
  try {
    return await task();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    if (!isPeer) throw new Error(`${name}: ${problem}`, { cause: error });
    process.stderr.write(`\n*** ${name} IS LEFT OUT: ${problem}\n\n`);
    return null;
  }
}

function summarise(scenario: Scenario, entrants: readonly Entrant[]): Measured[] {
  const limits = ratesOf(entrants.find(({ subject }) => subject === bare)?.runs ?? []);
  return entrants.map(({ subject, server, runs }) => ({
    scenario,
    subject: subject.name,
    ratio: compareRounds(ratesOf(runs), limits),
    requestsPerSecond: spreadOf(ratesOf(runs)).median,
    p50Ms: spreadOf(runs.map(({ p50Ms }) => p50Ms)).median,
    p99Ms: spreadOf(runs.map(({ p99Ms }) => p99Ms)).median,
    cpuUs: medianOf(runs.map(({ cpuUs }) => cpuUs)),
    coreShare: medianOf(runs.map(({ coreShare }) => coreShare)),
    memoryMib: server.readMemoryMib(),
    coldStartMs: server.coldStartMs,
    rates: ratesOf(runs),
    cpuUsOfRounds: runs.map(({ cpuUs }) => cpuUs),
  }));
}

function ratesOf(runs: readonly Run[]): number[] {
  return runs.map(({ requestsPerSecond }) => requestsPerSecond);
}
