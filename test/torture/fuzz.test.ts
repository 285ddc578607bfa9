import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzApi } from '../../torture/fuzz/api.ts';
import { fuzzWire } from '../../torture/fuzz/wire.ts';
import { runScenario } from '../../torture/run-scenario.ts';
import type { Scenario } from '../../torture/scenario.ts';

/** Runs a small part of `npm run fuzz`, always with the same seed. */
async function runPart(scenario: Scenario, scale: number) {
  const result = await runScenario(scenario, { seed: 7, scale, log: () => {} });
  assert.equal(result.kind, 'held');
  return result.kind === 'held' ? result.outcome.figures : {};
}

test('1,000 connections with mutated requests get only complete answers in order, and no 5xx', async () => {
  const figures = await runPart(fuzzWire, 0.05);
  assert.ok(Number(figures['connections']) > 1_000);
});

test('3,000 requests to every operation get answers that match the description, and each animal has at most one owner', async () => {
  const figures = await runPart(fuzzApi, 0.03);
  assert.ok(Number(figures['requests']) >= 3_000);
});
