import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { enter, recordService } from './entrant.ts';
import { scenarios } from './scenarios.ts';
import { buildStore } from './store.ts';
import { bare } from './subjects.ts';
import { sendLoad } from './wrk.ts';

/** Measures while nobody else slows the machine down. */
export interface Quiet {
  /**
   * Does it between two quiet seconds: waits for the first, and does it again where the second was none. Throws where
   * an hour has not been enough. What fails is not done again.
   */
  measure<T>(name: string, task: () => Promise<T>): Promise<T>;
  /** What a report says of it, to follow what was done in how many rounds. */
  describe(): string;
}

/** Any time is as good as another. */
export const atAnyTime: Quiet = { measure: (_name, task) => task(), describe: () => '' };

const freshMs = 1_000;
const lookEveryMs = 500;
const patienceMs = 3_600_000;

const clock = { readMs: () => performance.now(), pause };

/** A second is quiet in which so many answers at least are counted; the counting is to take a second each time. */
export function quietBy(
  countAnswers: () => Promise<number>,
  atLeast: number,
  { readMs, pause }: { readMs(): number; pause(ms: number): Promise<unknown> } = clock,
): Quiet {
  const loads = new Map<string, { all: number; again: number }>();
  let quietAtMs = Number.NEGATIVE_INFINITY;

  async function look(): Promise<boolean> {
    const isQuiet = (await countAnswers()) >= atLeast;
    quietAtMs = isQuiet ? readMs() : Number.NEGATIVE_INFINITY;
    return isQuiet;
  }

  async function untilQuiet(lastAtMs: number): Promise<void> {
    while (readMs() - quietAtMs >= freshMs && !(await look())) {
      process.stderr.write('.');
      await pause(lookEveryMs);
      failAfter(lastAtMs);
    }
  }

  function failAfter(lastAtMs: number): void {
    if (readMs() <= lastAtMs) return;
    throw new Error(`an hour was not quiet enough for a bare server to answer ${atLeast} lists a second`);
  }

  return {
    async measure(name, task) {
      const lastAtMs = readMs() + patienceMs;
      const count = loads.get(name) ?? { all: 0, again: 0 };
      loads.set(name, count);
      for (;;) {
        await untilQuiet(lastAtMs);
        const found = await task();
        count.all += 1;
        if (await look()) return found;
        count.again += 1;
        failAfter(lastAtMs);
      }
    },
    describe() {
      const counts = [...loads].map(([name, { all, again }]) => `${name} ${again} of ${all}`);
      const seconds = `between two seconds in which a bare server of its own answered at least ${atLeast.toLocaleString('en')} lists`;
      return `, each load ${seconds} (done again as they did not lie so: ${counts.join(', ')})`;
    },
  };
}

const animals = 100;

/**
 * Quiet by a bare server that is kept for this alone, so that whether a load counts does not rest on the server that was
 * loaded. It ends with the benchmark.
 */
export async function startQuiet(parent: string, atLeast: number): Promise<Quiet> {
  const [scenario] = scenarios;
  if (scenario === undefined) throw new Error('there is no scenario');
  const folder = join(parent, 'quiet');
  mkdirSync(folder);
  const site = { folder, store: await buildStore(folder, animals), walk: { pages: [], animals } };
  const recordedFile = await recordService(scenario, site);
  const { server, load, requestsFile } = await enter(bare, scenario, recordedFile, site);
  const countAnswers = async () => (await sendLoad(server.origin, load, requestsFile, 1)).requestsPerSecond;
  return quietBy(countAnswers, atLeast);
}
