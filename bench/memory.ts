import type { Plan } from './entrant.ts';
import { judgeFlatness, type Verdict } from './goals.ts';
import { formatTable, formatVerdicts } from './report.ts';
import { enterService } from './rounds.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { medianOf } from './statistics.ts';
import { creation } from './writes.ts';

const sampleSeconds = 10;
const growthTimesMax = 1.1;
const rowsMax = 15;

/** Nine reads of pages and of single animals for each create. */
const everything: Scenario = {
  name: 'everything',
  title: 'pages, animals and creates',
  connections: 64,
  status: 200,
  ratioMax: null,
  peerOperation: null,
  requests(walk) {
    const reads = scenarios
      .filter(({ name }) => name === 'pages-plain' || name === 'get-plain')
      .map((scenario) => scenario.requests(walk));
    const length = Math.max(...reads.map((requests) => requests.length));
    return Array.from({ length }, (_, index) => {
      if (index % 10 === 9) return creation;
      const requests = reads[index % reads.length] ?? [];
      return requests[index % requests.length] ?? creation;
    });
  },
};

interface Sample {
  readonly minutes: number;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly memoryMib: number;
}

/** Loads the service for `minutes` and reads its memory every 10 s. */
export async function measureMemory(
  plan: Plan,
  minutes: number,
): Promise<{ readonly report: string; readonly areGoalsMet: boolean }> {
  const { entrant } = await enterService(everything, plan);
  const samples: Sample[] = [];
  try {
    const startedMs = performance.now();
    let requests = 0;
    while (performance.now() - startedMs < minutes * 60_000) {
      const run = await entrant.run(sampleSeconds);
      requests += run.requests;
      const memoryMib = entrant.server.readMemoryMib();
      samples.push({ ...run, requests, memoryMib, minutes: (performance.now() - startedMs) / 60_000 });
    }
  } finally {
    await entrant.server.stop();
  }
  const verdict = judge(samples);
  return { report: `${formatSamples(samples)}\n${formatVerdicts([verdict])}`, areGoalsMet: verdict.isMet };
}

function formatSamples(samples: readonly Sample[]): string {
  const every = Math.ceil(samples.length / rowsMax);
  const shown = samples.filter((_, index) => index % every === 0 || index === samples.length - 1);
  return formatTable(
    ['minute', 'million requests so far', 'req/s', 'p99 ms', 'RSS MiB'],
    shown.map(({ minutes, requests, requestsPerSecond, p99Ms, memoryMib }) => [
      minutes.toFixed(1),
      (requests / 1e6).toFixed(2),
      Math.round(requestsPerSecond).toLocaleString('en'),
      p99Ms.toFixed(2),
      memoryMib.toFixed(0),
    ]),
  );
}

function judge(samples: readonly Sample[]): Verdict {
  const medianMib = (part: readonly Sample[]) => medianOf(part.map(({ memoryMib }) => memoryMib));
  const third = Math.ceil(samples.length / 3);
  const [middle, last] = [medianMib(samples.slice(third, 2 * third)), medianMib(samples.slice(-third))];
  const title = `growth of the median RSS from the middle third of the run (${middle.toFixed(0)} MiB) to the last third (${last.toFixed(0)} MiB)`;
  return judgeFlatness(title, [middle, Math.max(middle, last)], growthTimesMax);
}
