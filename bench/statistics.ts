/** The middle of some numbers, with the smallest and the largest. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The spread of at least one number; of an even count the median is the mean of the two in the middle. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return { median: (low + high) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** The median of the numbers that are there; null where none is. */
export function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : spreadOf(known).median;
}

/** The ratio of what two servers did, or of what it cost them, round by round. */
export function compareRounds(mine: readonly number[], others: readonly number[]): Spread {
  return spreadOf(mine.map((figure, round) => figure / (others[round] ?? Number.NaN)));
}
