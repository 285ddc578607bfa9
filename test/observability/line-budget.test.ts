import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineBudget } from '../../src/observability/log-lines.ts';

test('only a bounded number of lines is written in a second, and the next line has the number of omitted lines', () => {
  let nowMs = 0;
  const budget = createLineBudget(2, () => nowMs);
  assert.deepEqual(
    Array.from({ length: 5 }, () => budget.spend()),
    [0, 0, null, null, null],
  );
  nowMs = 1_000;
  assert.deepEqual(
    Array.from({ length: 3 }, () => budget.spend()),
    [3, 0, null],
  );
});
