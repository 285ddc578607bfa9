import assert from 'node:assert/strict';

/** The result of one of the equal parts of a load. */
export interface Part {
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The lowest resident memory of the part, in MiB. */
  readonly memoryMib: number;
  /** Open descriptors when the service is idle. */
  readonly descriptors: number;
}

/** Growth of a part of one minute that counts as a leak: about 45 bytes for each of its 90,000 requests. */
const leakMib = 4;
/** Tolerated random difference between two parts. */
const memoryNoiseMib = 16;
const descriptorsMax = 5;

/**
 * Returns the slope of values per step: the median of the slopes between all pairs (Theil–Sen). A single outlier does
 * not change it much.
 */
export function findSlope(values: readonly number[]): number {
  const slopes = values.flatMap((value, at) =>
    values.slice(at + 1).map((later, steps) => (later - value) / (steps + 1)),
  );
  const sorted = slopes.sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** Returns the rise from the first value to the last, estimated by the slope. */
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
