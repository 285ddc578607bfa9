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
