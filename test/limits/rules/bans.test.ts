import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs } from '../../../src/clock.ts';
import { newConduct, strike } from '../../../src/limits/rules/bans.ts';

const nowMs = Date.UTC(2027, 0, 2);

test('strikes of a clock that has since been set back are no longer held against a key', () => {
  const conduct = newConduct();
  for (let refused = 0; refused < 59; refused += 1) strike(conduct, 60, nowMs + hourMs);
  strike(conduct, 60, nowMs);
  assert.deepEqual([conduct.banMs, conduct.strikeCount], [0, 1]);
});
