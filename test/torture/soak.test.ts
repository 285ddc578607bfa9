import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runScenario } from '../../torture/run-scenario.ts';
import { expectNoLeak, expectSteadyTimes, findSlope, type Part } from '../../torture/soak/flat.ts';
import { soak } from '../../torture/soak/soak.ts';

const flat = { medianMs: 0.7, p99Ms: 3, memoryMib: 200, descriptors: 30 };
const tenParts = (change: (number: number) => Partial<Part>) =>
  Array.from({ length: 10 }, (_, number) => ({ ...flat, ...change(number) }));
/** The memory of a part as garbage collection leaves it: it rises for four parts, then falls. */
const sawtooth = (number: number) => 200 + 12 * (number % 4);

test('a mixed load is counted exactly and leaves no descriptor open', async () => {
  const result = await runScenario(soak, { seed: 7, scale: 0.005, log: () => {} });
  assert.equal(result.kind, 'held');
});

describe('the check for flat values in a soak test', () => {
  test('accepts values that go up and down', () => {
    expectNoLeak(tenParts((number) => ({ memoryMib: sawtooth(number), descriptors: 30 + (number % 3) })));
    expectSteadyTimes(
      tenParts((number) => ({ medianMs: 0.7 + 0.1 * (number % 2), p99Ms: 3 + (number % 3) })),
    );
  });

  test('detects a leak of 100 bytes a request, even under a sawtooth', () => {
    const leakMib = (100 * 90_000) / 2 ** 20;
    const leaking = tenParts((number) => ({ memoryMib: sawtooth(number) + leakMib * number }));
    assert.throws(() => expectNoLeak(leaking), /memory, MiB: 200,/);
  });

  test('detects one descriptor left open in each part', () => {
    const leaking = tenParts((number) => ({ descriptors: 30 + number }));
    assert.throws(() => expectNoLeak(leaking), /descriptors: 30,31/);
  });

  test('detects requests that become slower and slower', () => {
    const slowing = tenParts((number) => ({ medianMs: 0.7 + 0.1 * number }));
    assert.throws(() => expectSteadyTimes(slowing), /medians/);
    assert.throws(() => expectSteadyTimes(tenParts((number) => ({ p99Ms: 3 + number }))), /p99/);
  });

  test('uses a slope that one outlier does not change', () => {
    assert.equal(findSlope([1, 3, 5, 7]), 2);
    assert.equal(findSlope([5, 5, 5, 500, 5, 5, 5]), 0);
    assert.equal(findSlope([5]), 0);
  });
});
