import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { recordService } from './entrant.ts';
import { startServer } from './processes.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { buildStore } from './store.ts';
import { bare, withKey } from './subjects.ts';
import { sendLoad, writeRequests } from './wrk.ts';

/** Measures while nobody else slows the machine down. */
export interface Quiet {
  /** Does it between two quiet seconds: waits for the first, and does it again where the second was none. */
  measure<T>(task: () => Promise<T>): Promise<T>;
  /** What a report says of it, to follow what was done in how many rounds. */
  describe(): string;
}

/** Any time is as good as another. */
export const atAnyTime: Quiet = { measure: (task) => task(), describe: () => '' };

const animals = 100;
const lookEveryMs = 5_000;
const patienceMs = 3_600_000;

/**
 * Quiet is a second in which a bare server that is kept for this alone answers so many lists. Whether a measurement counts
 * thus rests on the machine and on nothing that the measured server does. Throws where no quiet second comes in an hour.
 */
export async function startQuiet(parent: string, atLeast: number): Promise<Quiet> {
  const [scenario] = scenarios;
  if (scenario === undefined) throw new Error('there is no scenario');
  const countAnswers = await startGauge(join(parent, 'quiet'), scenario);
  const isQuiet = async () => (await countAnswers()) >= atLeast;
  let wasQuiet = false;
  let counted = 0;
  let uncounted = 0;

  async function untilQuiet(): Promise<void> {
    const lastAtMs = performance.now() + patienceMs;
    while (!wasQuiet) {
      if (performance.now() > lastAtMs)
        throw new Error(`in an hour no second was quiet enough for a bare server to answer ${atLeast} lists`);
      wasQuiet = await isQuiet();
      if (!wasQuiet) await pause(lookEveryMs);
    }
  }

  return {
    async measure(task) {
      for (;;) {
        await untilQuiet();
        const found = await task();
        wasQuiet = await isQuiet();
        if (wasQuiet) {
          counted += 1;
          return found;
        }
        uncounted += 1;
      }
    },
    describe: () =>
      `, each load between two seconds in which a bare server of its own answered ${atLeast.toLocaleString('en')} lists (${uncounted} of ${counted + uncounted} were not, and were done again)`,
  };
}

/** Starts the bare server that tells how quiet it is, and gives how many lists it answers in a second. */
async function startGauge(folder: string, scenario: Scenario): Promise<() => Promise<number>> {
  mkdirSync(folder);
  const store = await buildStore(folder, animals);
  const walk = { pages: [], animals };
  const plan = { folder, store, walk, rounds: 1, seconds: 1, quiet: atAnyTime };
  const ground = { folder, store, storeFile: '', recordedFile: await recordService(scenario, plan) };
  const requests = scenario.requests(walk);
  const [first] = requests;
  if (first === undefined) throw new Error(`${scenario.name} has no requests`);
  const headers = withKey(store);
  // It ends with the benchmark, as every server that was not stopped.
  const { origin } = await startServer(
    (port) => bare.build(port, ground),
    first,
    headers,
    join(folder, 'bare.log'),
  );
  const load = { requests, headers, connections: scenario.connections };
  const file = writeRequests(folder, 'lists', requests);
  return async () => (await sendLoad(origin, load, file, 1)).requestsPerSecond;
}
