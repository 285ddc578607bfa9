import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runScenario } from '../../torture/run-scenario.ts';
import { expectNoLeak, expectSteadyTimes, findSlope, type Part } from '../../torture/soak/flat.ts';
import { soak } from '../../torture/soak/soak.ts';

const flat = { answers: 1, medianMs: 0.7, p99Ms: 3, memoryMib: 200, descriptors: 30 };
const tenParts = (change: (number: number) => Partial<Part>) =>
  Array.from({ length: 10 }, (_, number) => ({ ...flat, ...change(number) }));
/** Memory as a collector leaves it: up for some parts, then down. */
const sawtooth = (number: number) => 200 + 12 * (number % 4);

test('the counts of a mixed load are exact, and it leaves nothing open', async () => {
  const result = await runScenario(soak, { seed: 7, scale: 0.005, log: () => {} });
  assert.equal(result.kind, 'held');
});

describe('what a soak calls flat', () => {
  test('may go up and down', () => {
    expectNoLeak(tenParts((number) => ({ memoryMib: sawtooth(number), descriptors: 30 + (number % 3) })));
    expectSteadyTimes(
      tenParts((number) => ({ medianMs: 0.7 + 0.1 * (number % 2), p99Ms: 3 + (number % 3) })),
    );
  });

  test('does not rise by 100 bytes a request, beneath a sawtooth either', () => {
    const leakMib = (100 * 90_000) / 2 ** 20;
    const leaking = tenParts((number) => ({ memoryMib: sawtooth(number) + leakMib * number }));
    assert.throws(() => expectNoLeak(leaking), /memory, MiB: 200,/);
  });

  test('keeps no descriptor of each part open', () => {
    const leaking = tenParts((number) => ({ descriptors: 30 + number }));
    assert.throws(() => expectNoLeak(leaking), /descriptors: 30,31/);
  });

  test('has no requests that take longer and longer', () => {
    assert.throws(
      () => expectSteadyTimes(tenParts((number) => ({ medianMs: 0.7 + 0.1 * number }))),
      /medians/,
    );
    assert.throws(() => expectSteadyTimes(tenParts((number) => ({ p99Ms: 3 + number }))), /p99/);
  });

  test('shows in a slope that one outlier does not change', () => {
    assert.equal(findSlope([1, 3, 5, 7]), 2);
    assert.equal(findSlope([5, 5, 5, 500, 5, 5, 5]), 0);
    assert.equal(findSlope([5]), 0);
  });
});
