import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mergeRows, type Row } from '../../torture/fault-table.ts';
import { readOptions } from '../../torture/options.ts';
import { createRandom } from '../../torture/random.ts';
import { runScenario } from '../../torture/run-scenario.ts';
import { type Outcome, type Scenario, Skipped, type TortureContext } from '../../torture/scenario.ts';
import { scenarios } from '../../torture/scenarios.ts';

const outcome: Outcome = { done: 'a', seen: 'b', lost: 'nothing', well: 'at once' };

function makeScenario(run: Scenario['run'], minutes = 1): Scenario {
  return { name: 'made-up', title: 'something is done', minutes, run };
}

const options = { seed: 7, scale: 0.5, log: () => undefined };

describe('a scenario', () => {
  test('gets its own folder, which is removed after the run', async () => {
    let folder = '';
    const scenario = makeScenario(async (context: TortureContext) => {
      folder = context.folder;
      assert.ok(existsSync(folder));
      return outcome;
    });
    assert.equal((await runScenario(scenario, options)).kind, 'held');
    assert.ok(!existsSync(folder));
  });

  test('has `after` actions that run after it, the last one first', async () => {
    const ended: string[] = [];
    const scenario = makeScenario(async (context: TortureContext) => {
      context.after(() => ended.push('first'));
      context.after(async () => ended.push('second'));
      return outcome;
    });
    assert.equal((await runScenario(scenario, options)).kind, 'held');
    assert.deepEqual(ended, ['second', 'first']);
  });

  test('fails with the command that repeats it if it breaks a guarantee', async () => {
    const scenario = makeScenario(() => Promise.reject(new Error('the animal 1 is lost')));
    await assert.rejects(runScenario(scenario, options), {
      message:
        'made-up did not hold (npm run torture -- --only made-up --seed 7 --scale 0.5): the animal 1 is lost',
    });
  });

  test('is skipped with the reason if this machine cannot run it', async () => {
    const scenario = makeScenario(() => Promise.reject(new Skipped('there is no mount')));
    const result = await runScenario(scenario, options);
    assert.equal(result.kind === 'skipped' && result.reason, 'there is no mount');
  });

  test('fails if it exceeds its time limit', async () => {
    const scenario = makeScenario(() => new Promise(() => undefined), 0.0001);
    await assert.rejects(runScenario(scenario, options), /it took longer than 0\.0001 min$/);
  });
});

test('every scenario has a unique name and a time limit', () => {
  assert.equal(new Set(scenarios.map(({ name }) => name)).size, scenarios.length);
  for (const { minutes } of scenarios) assert.ok(minutes > 0);
});

const faultRuns = await readFile(join(import.meta.dirname, '../../docs/operations/fault-runs.md'), 'utf8');

test('the page of fault runs names every scenario', () => {
  for (const { name } of scenarios) assert.match(faultRuns, new RegExp(`\\b${name}\\b`));
});

test('each row of the table of fault runs is a scenario, in the order of the scenarios', () => {
  const rows = Array.from(faultRuns.matchAll(/\| `([\w-]+)`, seed /g), ([, name]) => name);
  const named = scenarios.map(({ name }) => name).filter((name) => rows.includes(name));
  assert.deepEqual(rows, named);
});

/** Draws 1,000 random numbers from `least` to `most`. */
function draw(seed: number, least: number, most: number): number[] {
  const random = createRandom(seed);
  return Array.from({ length: 1_000 }, () => random.between(least, most));
}

test('random numbers are the same for the same seed alone', () => {
  assert.deepEqual(draw(1, 0, 1_000_000), draw(1, 0, 1_000_000));
  assert.notDeepEqual(draw(1, 0, 1_000_000), draw(2, 0, 1_000_000));
});

test('random numbers include both bounds and nothing beyond them', () => {
  assert.deepEqual([...new Set(draw(3, -1, 1))].toSorted(), [-1, 0, 1]);
});

function row(name: string, done: string): Row {
  const ran = { seed: 1, scale: 1, seconds: 2.4, day: '2027-01-02' };
  return { ...ran, name, outcome: { ...outcome, done } };
}

test('the fault table keeps the rows of scenarios that were not run, in their order', () => {
  const order = ['one', 'two', 'three'];
  const first = mergeRows('', [row('three', 'old'), row('one', 'old')], order);
  const second = mergeRows(first, [row('two', 'new'), row('three', 'new')], order);
  assert.deepEqual(second.split('\n').slice(2), [
    '| old | b | nothing | at once | `one`, seed 1, 2027-01-02, 2 s |',
    '| new | b | nothing | at once | `two`, seed 1, 2027-01-02, 2 s |',
    '| new | b | nothing | at once | `three`, seed 1, 2027-01-02, 2 s |',
  ]);
});

test('the fault table keeps its cells escaped', () => {
  const escaped = '| a \\| b c | b | nothing | at once | `one`, seed 1, 2027-01-02, 2 s |';
  const first = mergeRows('', [row('one', 'a | b\nc')], ['one']);
  assert.deepEqual(first.split('\n').slice(2), [escaped]);
  assert.deepEqual(mergeRows(first, [], ['one']).split('\n').slice(2), [escaped]);
});

const known = ['one', 'two'].map((name) => ({ ...makeScenario(async () => outcome), name }));

test('the options select scenarios by name and set the seed and the scale', () => {
  const { chosen, seed, scale } = readOptions(['--only', 'two', '--seed', '5', '--scale', '0.1'], known);
  assert.deepEqual([chosen.map(({ name }) => name), seed, scale], [['two'], 5, 0.1]);
});

test('invalid options are refused', () => {
  for (const wrong of ['--only three', '--seed -1', '--scale 0', '--scale x', '--unknown'])
    assert.throws(() => readOptions(wrong.split(' '), known), wrong);
});
