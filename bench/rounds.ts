import { join } from 'node:path';
import { type Entrant, makeEntrant, type Plan, type Run, startSubject } from './entrant.ts';
import { addEtags, type Request } from './exchange.ts';
import { record } from './recording.ts';
import { hotPage, type Scenario } from './scenarios.ts';
import { medianOf } from './statistics.ts';
import { type Subject, service, withKey } from './subjects.ts';

/** The result of one subject in one scenario. */
export interface Measured {
  readonly scenario: Scenario;
  readonly subject: string;
  /**
   * CPU time per request of the process tree in the cheapest round, in microseconds. Other load on the machine can only
   * raise the CPU time, because it evicts the processor's caches. So the cheapest round is the most exact.
   */
  readonly cpuUs: number;
  /** `cpuUs` divided by the `cpuUs` of the first subject. */
  readonly ratio: number;
  /** The median of the rounds, as for `p99Ms`. */
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly memoryMib: number;
  readonly coldStartMs: number;
}

/**
 * Number of requests of the warm-up, in which V8 compiles the hot code. A fixed time would not suffice on a busy
 * machine.
 */
const warmUpRequests = 30_000;
const warmUpLoadsMax = 12;

/**
 * Measures the subjects in one scenario. The service starts first, because the bare server sends recorded answers of
 * the service. All subjects are warmed up and then loaded in turn, every second round in reverse order. If a peer
 * fails, it is reported and left out. Throws if any other subject fails.
 */
export async function measureScenario(
  scenario: Scenario,
  subjects: readonly [base: Subject, ...others: Subject[]],
  plan: Plan,
): Promise<Measured[]> {
  const entrants = new Set<Entrant>();
  try {
    await enterAll(entrants, scenario, subjects, plan);
    for (const entrant of [...entrants]) await warmUp(entrants, entrant);
    for (let round = 0; round < plan.rounds; round += 1) {
      const order = round % 2 === 0 ? [...entrants] : [...entrants].reverse();
      for (const entrant of order) {
        const run = await tryRun(entrants, entrant, plan.seconds);
        if (run !== null) entrant.runs.push(run);
      }
    }
    const base = [...entrants].find(({ subject }) => subject === subjects[0]);
    return subjects.flatMap((subject) => {
      const entrant = [...entrants].find((candidate) => candidate.subject === subject);
      return entrant === undefined || base === undefined ? [] : [summarise(scenario, entrant, base)];
    });
  } finally {
    await Promise.all([...entrants].map(({ server }) => server.stop()));
  }
}

async function enterAll(
  entrants: Set<Entrant>,
  scenario: Scenario,
  subjects: readonly Subject[],
  plan: Plan,
): Promise<void> {
  const own = await enterService(scenario, plan);
  entrants.add(own.entrant);
  const others = subjects.filter((subject) => subject !== service && subject.isFor(scenario));
  for (const subject of others)
    await attempt(subject, async () => {
      const server = await startSubject(subject, scenario, plan, own);
      const requests = subject.isPeer ? subject.requests(scenario, plan.walk) : own.requests;
      entrants.add(makeEntrant(subject, server, scenario, plan, requests));
    });
}

interface OwnEntrant {
  readonly entrant: Entrant;
  readonly requests: readonly Request[];
  readonly recordedFile: string;
}

/** Starts the service and records its answers. Throws if the first answer does not have the status of the scenario. */
export async function enterService(
  scenario: Scenario,
  plan: Plan,
  nodeFlags: readonly string[] = [],
): Promise<OwnEntrant> {
  const recordedFile = join(plan.folder, 'recorded.json');
  const server = await startSubject(service, scenario, plan, { recordedFile, nodeFlags });
  try {
    const headers = { ...withKey(plan.store), ...scenario.headers };
    const made = scenario.requests(plan.walk);
    const requests = scenario.isConditional === true ? await addEtags(server.origin, made, headers) : made;
    const { answers } = await record(
      recordedFile,
      server.origin,
      [...requests.slice(0, 1), hotPage, ...requests],
      headers,
    );
    const [first] = requests;
    const status = first && answers[first.method]?.status;
    if (status !== scenario.status) throw new Error(`${scenario.name} was answered ${status}`);
    return { entrant: makeEntrant(service, server, scenario, plan, requests), requests, recordedFile };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function warmUp(entrants: Set<Entrant>, entrant: Entrant): Promise<void> {
  let answered = 0;
  for (let load = 0; load < warmUpLoadsMax && answered < warmUpRequests; load += 1)
    answered += (await tryRun(entrants, entrant, 1))?.requests ?? 0;
}

/** Loads an entrant. If a peer fails, returns null and removes it from the entrants. */
async function tryRun(entrants: Set<Entrant>, entrant: Entrant, seconds: number): Promise<Run | null> {
  if (!entrants.has(entrant)) return null;
  const run = await attempt(entrant.subject, () => entrant.run(seconds));
  if (run !== null) return run;
  entrants.delete(entrant);
  await entrant.server.stop();
  return null;
}

/**
 * Returns the result of a task. If the task of a peer fails, reports it and returns null. Throws if any other task
 * fails.
 */
async function attempt<T>({ name, isPeer }: Subject, task: () => Promise<T>): Promise<T | null> {
  try {
    return await task();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    if (!isPeer) throw new Error(`${name}: ${problem}`, { cause: error });
    process.stderr.write(`\n*** ${name} is left out: ${problem}\n\n`);
    return null;
  }
}

function summarise(scenario: Scenario, { subject, server, runs }: Entrant, base: Entrant): Measured {
  return {
    scenario,
    subject: subject.name,
    cpuUs: leastCpuUs(runs),
    ratio: leastCpuUs(runs) / leastCpuUs(base.runs),
    requestsPerSecond: medianOf(runs.map(({ requestsPerSecond }) => requestsPerSecond)),
    p99Ms: medianOf(runs.map(({ p99Ms }) => p99Ms)),
    memoryMib: server.readMemoryMib(),
    coldStartMs: server.coldStartMs,
  };
}

function leastCpuUs(runs: readonly Run[]): number {
  return Math.min(...runs.map(({ cpuUs }) => cpuUs));
}
