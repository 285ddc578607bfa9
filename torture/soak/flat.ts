import assert from 'node:assert/strict';

/** The result of one of the equal parts of a load. */
export interface Part {
  readonly answers: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The lowest resident memory of the part, in MiB. */
  readonly memoryMib: number;
  /** Open descriptors when the service is idle. */
  readonly descriptors: number;
}

/** A leak of 45 bytes for each of the 90,000 requests a minute. */
const leakMib = 4;
/** How much two parts may differ by chance. */
const memoryNoiseMib = 16;
const descriptorsMax = 5;

/** The slope of values per step: the median of the slopes between any two, so that no single value decides. */
export function findSlope(values: readonly number[]): number {
  const slopes = values.flatMap((value, at) =>
    values.slice(at + 1).map((later, steps) => (later - value) / (steps + 1)),
  );
  const sorted = slopes.sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** How much values rise from the first to the last, by their slope. */
export function findRise(values: readonly number[]): number {
  return findSlope(values) * (values.length - 1);
}

/** Throws if descriptors stay open, or if memory rises by more than a leak of 45 bytes a request. */
export function expectNoLeak(parts: readonly Part[]): void {
  const descriptors = parts.map((part) => part.descriptors);
  assert.ok(
    Math.max(...descriptors) - (descriptors[0] ?? 0) <= descriptorsMax,
    `descriptors: ${descriptors}`,
  );
  const memory = parts.map(({ memoryMib }) => memoryMib);
  assert.ok(findRise(memory) <= leakMib * (parts.length - 1) + memoryNoiseMib, `memory, MiB: ${memory}`);
}

/** Throws if requests become slower: the median by a quarter plus 0.25 ms, or the p99 by a half plus 5 ms. */
export function expectSteadyTimes(parts: readonly Part[]): void {
  const medians = parts.map(({ medianMs }) => medianMs);
  assert.ok(findRise(medians) <= 0.25 * Math.min(...medians) + 0.25, `medians, ms: ${medians}`);
  const tails = parts.map(({ p99Ms }) => p99Ms);
  assert.ok(findRise(tails) <= 0.5 * Math.min(...tails) + 5, `p99, ms: ${tails}`);
}
