import type { Comparison } from './comparison.ts';

/** The maximum CPU time per request, as a multiple of that of a bare `node:http` server in the same run. */
export const ratioMax = {
  /** From the cache: pages and single animals, plain, 304, CORS and HEAD. */
  cached: 1.5,
  /** Cached, with each request in the log. */
  logged: 2.1,
  /** Cached, beside 100 edits a second. */
  edited: 1.7,
  uncachedList: 8,
  uncachedGet: 3,
  inventory: 5,
  create: 2.8,
  keyedCreate: 5,
} as const;

/** The same for an instance over PostgreSQL and Redis, by the name of the scenario. Others have no goal. */
export const sharedRatioMax: Readonly<Record<string, number>> = {
  'list-plain': 2.5,
  'pages-plain': 2.5,
  'get-plain': 2.5,
  create: 4,
  'create-keyed': 8,
  patch: 16,
  order: 16,
};

/**
 * The floor of a write, and how many times as much the service takes: the bare server and SQLite alone. Null if SQLite
 * is not measured.
 */
export function floorOf({
  own,
  base,
  sqliteUs,
}: Comparison): { readonly us: number; readonly times: number } | null {
  if (sqliteUs === null) return null;
  const us = base.cpuUs + sqliteUs;
  return { us, times: own.cpuUs / us };
}

/** The maximum CPU time of a write, as a multiple of its floor (floorOf). */
export const floorTimesMax = 1.7;

/** True if a scenario meets its goals: the ratio, and for a write its floor. Null if the scenario has no goal. */
export function isGoalMet(comparison: Comparison): boolean | null {
  const { scenario, ratio } = comparison.own;
  const floor = floorOf(comparison);
  if (scenario.ratioMax === null && floor === null) return null;
  return (
    (scenario.ratioMax === null || ratio <= scenario.ratioMax) &&
    (floor === null || floor.times <= floorTimesMax)
  );
}

export interface Verdict {
  readonly goal: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/**
 * With a single client, each create waits for its own commit. The service must reach this share of the requests per
 * second of a server that does one commit for each request.
 */
export const aloneShareMin = 0.75;

/** Compares the requests per second of the service with those of the other subjects. */
export function judgePaces(comparisons: readonly Comparison[]): Verdict[] {
  return comparisons.flatMap(({ own, others }) =>
    others.map((other) => {
      const share = own.requestsPerSecond / other.requestsPerSecond;
      return {
        goal: `${own.scenario.title}: requests a second, as a share of ${other.subject}`,
        wanted: `at least ${aloneShareMin}`,
        measured: share.toFixed(2),
        isMet: share >= aloneShareMin,
      };
    }),
  );
}

/** Judges whether costs are nearly constant: the highest cost may be at most `timesMax` times the lowest. */
export function judgeFlatness(goal: string, costs: readonly number[], timesMax: number): Verdict {
  const times = Math.max(...costs) / Math.min(...costs);
  return {
    goal,
    wanted: `at most ${timesMax} times`,
    measured: `${times.toFixed(2)} times`,
    isMet: times <= timesMax,
  };
}
