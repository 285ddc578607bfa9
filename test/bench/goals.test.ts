import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, judgeBelow, judgeFlatness } from '../../bench/goals.ts';
import type { Measured } from '../../bench/rounds.ts';
import { scenarios } from '../../bench/scenarios.ts';
import { bare, service } from '../../bench/subjects.ts';

function measured(scenarioName: string, subject: string, rates: readonly number[], p99Ms = 1): Measured {
  const scenario = scenarios.find(({ name }) => name === scenarioName);
  if (scenario === undefined) throw new Error(`there is no scenario ${scenarioName}`);
  const none = { cpuUs: null, cpuUsOfRounds: [], coreShare: null, memoryMib: null };
  const ratio = { median: 1, min: 1, max: 1 };
  return { scenario, subject, ratio, requestsPerSecond: 1, p50Ms: 1, p99Ms, coldStartMs: 1, rates, ...none };
}

const short = ({ goal, isMet }: { goal: string; isMet: boolean }) => [
  goal.replace(/.*, (?:against )?/, ''),
  isMet,
];

test('a ratio is met by the median of the rounds, each against the same round of the other', () => {
  const limits = measured('create', bare.name, [100, 200, 400]);
  const enough = judge([limits, measured('create', service.name, [50, 100, 10])], false);
  const tooLittle = judge([limits, measured('create', service.name, [50, 99, 10])], false);
  assert.equal(enough.find(({ goal }) => goal.includes('bare'))?.isMet, true);
  assert.equal(tooLittle.find(({ goal }) => goal.includes('bare'))?.isMet, false);
});

test('a server that was wanted and not measured misses its goals', () => {
  const verdicts = judge([measured('get', service.name, [100]), measured('get', bare.name, [100])], true);
  assert.deepEqual(verdicts.map(short), [
    ['bare node:http', true],
    ['an afternoon', false],
    ['Platformatic DB', false],
    ['Prism mock', false],
    ['json-server', false],
    ['p99 of the median round', true],
  ]);
});

test('a slow hundredth misses its goal', () => {
  const [, verdict] = judge([measured('get', service.name, [1], 5), measured('get', bare.name, [1])], false);
  assert.deepEqual(verdict && short(verdict), ['p99 of the median round', false]);
});

test('what is flat and what is not, what is below and what is not', () => {
  assert.equal(judgeFlatness('x', [100, 115], 1.15).isMet, true);
  assert.equal(judgeFlatness('x', [100, 116], 1.15).isMet, false);
  assert.equal(judgeBelow('x', 999, 1_000, 'ms').isMet, true);
  assert.equal(judgeBelow('x', 1_000, 1_000, 'ms').isMet, false);
});
