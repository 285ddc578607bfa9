import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aloneShareMin, floorTimesMax, isGoalMet, judgeFlatness, judgePaces } from '../../bench/goals.ts';
import { chooseScenarios } from '../../bench/options.ts';
import type { Measured } from '../../bench/rounds.ts';

const figures = { cpuUs: 1, requestsPerSecond: 1, p99Ms: 1, memoryMib: 1, coldStartMs: 1, ratio: 1 };

function measure(name: string, own: Partial<Measured>, ratioMax: number | null = null): Measured {
  const [scenario = assert.fail()] = chooseScenarios(name);
  return { scenario: { ...scenario, ratioMax }, subject: 'service', ...figures, ...own };
}

function judge(ratioMax: number | null, ratio: number, sqliteUs: number | null = null) {
  const own = measure('create', { ratio }, ratioMax);
  return isGoalMet({ own, base: own, sqliteUs, others: [] });
}

test('a scenario meets its goal if its ratio is at most ratioMax', () => {
  assert.equal(judge(1.5, 1.5), true);
  assert.equal(judge(1.5, 1.51), false);
  // The system does not report CPU time.
  assert.equal(judge(1.5, Number.NaN), false);
});

test('a scenario without a goal is not judged', () => {
  assert.equal(judge(null, 9), null);
});

test('a write meets its goal if it takes at most floorTimesMax times the bare server and SQLite together', () => {
  const met = 1 / floorTimesMax - 1;
  assert.equal(judge(null, 1, met + 0.01), true);
  assert.equal(judge(null, 1, met - 0.01), false);
  assert.equal(judge(0.5, 1, met + 0.01), false);
});

test('create-alone meets its goal at aloneShareMin of one commit per create', () => {
  const others = [measure('create-alone', { subject: 'one commit per create', requestsPerSecond: 1_000 })];
  for (const [share, isMet] of [
    [aloneShareMin, true],
    [aloneShareMin - 0.01, false],
    [Number.NaN, false],
  ] as const) {
    const own = measure('create-alone', { requestsPerSecond: 1_000 * share });
    assert.equal(judgePaces([{ own, base: own, sqliteUs: null, others }])[0]?.isMet, isMet);
  }
});

test('costs are flat if the highest is at most timesMax times the lowest', () => {
  assert.equal(judgeFlatness('x', [100, 115], 1.15).isMet, true);
  assert.equal(judgeFlatness('x', [100, 116], 1.15).isMet, false);
});

test('a word of --only selects every scenario with this word in its name', () => {
  const namesOf = (list: string) => chooseScenarios(list).map(({ name }) => name);
  assert.deepEqual(namesOf('get-304'), ['get-304']);
  assert.deepEqual(namesOf('304,create-alone'), ['list-304', 'pages-304', 'get-304', 'create-alone']);
  assert.throws(() => namesOf('lists'), /there is no scenario lists/);
});
