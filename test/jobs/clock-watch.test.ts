import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, secondMs } from '../../src/clock.ts';
import { createClockWatch, leapMsMin, steadyMsMin } from '../../src/jobs/clock-watch.ts';
import type { Database } from '../../src/storage/database.ts';
import { recordLog } from '../support/recorded-log.ts';

/** Creates a watch whose three clocks the test moves. `pass` moves them together. */
function open() {
  const time = { machineMs: Date.UTC(2027, 0, 2), storeMs: Date.UTC(2027, 0, 2) + 5_000, elapsedMs: 77 };
  const { log, findLines } = recordLog();
  const read = async () => [{ now_ms: BigInt(time.storeMs) }];
  const elapsedMs = () => time.elapsedMs;
  const database = { read } as unknown as Database;
  const { mayClose, mayDelete } = createClockWatch(database, () => time.machineMs, log, elapsedMs);
  return {
    time,
    mayClose,
    mayDelete,
    /** Returns whether a job may close, and whether it may delete. */
    ask: async () => [await mayClose(), await mayDelete()],
    pass(ms: number) {
      for (const clock of ['machineMs', 'storeMs', 'elapsedMs'] as const) time[clock] += ms;
    },
    findLines,
  };
}

test('a start counts as unsteady for deletions alone, for 10 minutes', async () => {
  const { pass, ask, findLines } = open();
  assert.deepEqual(await ask(), [true, false]);
  pass(steadyMsMin - 1);
  assert.deepEqual(await ask(), [true, false]);
  pass(1);
  assert.deepEqual(await ask(), [true, true]);
  assert.deepEqual(findLines(), []);
});

for (const [clock, field] of [
  ['machineMs', 'machineLeapMs'],
  ['storeMs', 'storeLeapMs'],
] as const)
  for (const leapMs of [40 * dayMs, leapMsMin + 1, -leapMsMin - 1])
    test(`a leap of ${clock} by ${leapMs} is one log line and stops both kinds for 10 minutes`, async () => {
      const { time, pass, ask, findLines } = open();
      await ask();
      pass(steadyMsMin);
      assert.deepEqual(await ask(), [true, true]);
      time[clock] += leapMs;
      assert.deepEqual(await ask(), [false, false]);
      pass(steadyMsMin - 1);
      assert.deepEqual(await ask(), [false, false]);
      pass(1);
      assert.deepEqual(await ask(), [true, true]);
      const [line, ...others] = findLines();
      assert.deepEqual([line?.[field], line?.['level'], others], [leapMs, 40, []]);
    });

test('what is kept for a day is not deleted within a day after a leap', async () => {
  const { time, pass, mayDelete } = open();
  await mayDelete(dayMs);
  pass(steadyMsMin);
  assert.equal(await mayDelete(dayMs), true);
  time.storeMs += dayMs;
  await mayDelete(dayMs);
  pass(dayMs - 1);
  assert.deepEqual([await mayDelete(dayMs), await mayDelete()], [false, true]);
  pass(1);
  assert.equal(await mayDelete(dayMs), true);
});

test('the return of a leap is another leap, from which the 10 minutes begin again', async () => {
  const { time, pass, mayClose, findLines } = open();
  await mayClose();
  time.machineMs += 40 * dayMs;
  await mayClose();
  pass(75 * secondMs);
  time.machineMs -= 40 * dayMs;
  assert.equal(await mayClose(), false);
  pass(steadyMsMin - 1);
  assert.equal(await mayClose(), false);
  pass(1);
  assert.equal(await mayClose(), true);
  assert.equal(findLines().length, 2);
});

for (const [what, passedMs, stepMs, expected] of [
  ['by at most a minute in 10 minutes does not leap', steadyMsMin, leapMsMin, Array(11).fill(true)],
  [
    'in steps of half a minute leaps at more than a minute',
    secondMs,
    leapMsMin / 2,
    [true, true, true, false],
  ],
] as const)
  test(`a clock that moves ${what}`, async () => {
    const { time, pass, mayClose, findLines } = open();
    const steady: boolean[] = [];
    while (steady.length < expected.length) {
      steady.push(await mayClose());
      pass(passedMs);
      time.machineMs += stepMs;
    }
    assert.deepEqual(steady, expected);
    assert.equal(findLines().length, expected.filter((isSteady) => !isSteady).length);
  });
