import type { Verdict } from '../goals.ts';
import { medianOf } from '../statistics.ts';
import type { Asked } from './good-client.ts';

/** A measured value of one round, with its goal. */
export interface Figure {
  readonly goal: string;
  readonly value: number;
  readonly max: number;
  readonly unit: 'ms' | 'MiB' | 's' | '/ 1,000' | '';
  /** How `max` follows from other values of the round, such as `3 × bare + 5 ms`. */
  readonly rule?: string;
}

/** Judges a goal over all rounds: the medians of the values and of their bounds. A failure of one round counts. */
export function judgeRounds(rounds: readonly (readonly Figure[])[]): Verdict[] {
  const [first = []] = rounds;
  return first.map(({ goal, unit, rule }, index) => {
    const figures = rounds.flatMap((round) => round[index] ?? []);
    const values = figures.map(({ value }) => value);
    const value = unit === '' ? Math.max(...values) : medianOf(values);
    const max = medianOf(figures.map((figure) => figure.max));
    const wanted = `at most ${rule === undefined ? '' : `${rule} = `}${format(max, unit)}`;
    return { goal, wanted, measured: format(value, unit), isMet: value <= max };
  });
}

function format(value: number, unit: Figure['unit']): string {
  const digits = unit === '' || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${unit}`.trimEnd();
}

/** The figure that all requests of good clients got the right answer. */
export function noFailures(asked: readonly Asked[]): Figure {
  const failures = asked.flatMap((one) => Object.values(one.failures));
  const value = failures.reduce((sum, count) => sum + count, 0);
  return { goal: 'failed requests', value, max: 0, unit: '' };
}
