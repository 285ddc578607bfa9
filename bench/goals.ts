import type { Comparison } from './comparison.ts';

/** True if the ratio of a scenario is at most its goal. Null if the scenario has no goal. */
export function isGoalMet({ own: { scenario, ratio } }: Comparison): boolean | null {
  return scenario.ratioMax === null ? null : ratio <= scenario.ratioMax;
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
