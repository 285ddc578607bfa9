import type { Comparison } from './comparison.ts';

/** Whether a scenario costs at most its multiple of the bare server's CPU; null without a goal. */
export function isGoalMet({ own: { scenario, ratio } }: Comparison): boolean | null {
  return scenario.ratioMax === null ? null : ratio <= scenario.ratioMax;
}

export interface Verdict {
  readonly goal: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** A client that is alone waits for its own commit: its creates come at least at this share of the pace of one commit each. */
export const aloneShareMin = 0.75;

/** Judges the scenarios that have another subject beside them by requests a second. */
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

/** Whether costs stay as they are while something grows: the dearest is at most so many times the cheapest. */
export function judgeFlatness(goal: string, costs: readonly number[], timesMax: number): Verdict {
  const times = Math.max(...costs) / Math.min(...costs);
  return {
    goal,
    wanted: `at most ${timesMax} times the least`,
    measured: `${times.toFixed(2)} times`,
    isMet: times <= timesMax,
  };
}
