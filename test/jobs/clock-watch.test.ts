import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { dayMs, minuteMs, secondMs } from '../../src/clock.ts';
import { createClockWatch, leapMsMin, steadyMsMin } from '../../src/jobs/clock-watch.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Database } from '../../src/storage/database.ts';

/** Creates a watch whose three clocks the test moves. `pass` moves them together. */
function open() {
  const time = { machineMs: Date.UTC(2027, 0, 2), storeMs: Date.UTC(2027, 0, 2) + 5_000, elapsedMs: 77 };
  const output = new PassThrough();
  const log = createLog('info', output);
  const read = async () => [{ now_ms: BigInt(time.storeMs) }];
  const database = { read } as unknown as Database;
  const watch = createClockWatch(
    database,
    () => time.machineMs,
    log,
    () => time.elapsedMs,
  );
  return {
    ...watch,
    time,
    pass(ms: number) {
      for (const clock of ['machineMs', 'storeMs', 'elapsedMs'] as const) time[clock] += ms;
    },
    listLines() {
      log.flush();
      return String(output.read() ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
  };
}

test('a start counts as unsteady for deletions alone, for 10 minutes', async () => {
  const { pass, mayClose, mayDelete, listLines } = open();
  assert.deepEqual([await mayClose(), await mayDelete()], [true, false]);
  pass(steadyMsMin - 1);
  assert.equal(await mayDelete(), false);
  pass(1);
  assert.equal(await mayDelete(), true);
  assert.deepEqual(listLines(), []);
});

for (const [clock, field] of [
  ['machineMs', 'machineLeapMs'],
  ['storeMs', 'storeLeapMs'],
] as const)
  for (const leapMs of [40 * dayMs, leapMsMin + 1, -leapMsMin - 1])
    test(`a leap of ${clock} by ${leapMs} is one log line and stops both kinds for 10 minutes`, async () => {
      const { time, pass, mayClose, mayDelete, listLines } = open();
      await mayClose();
      pass(steadyMsMin);
      assert.equal(await mayDelete(), true);
      time[clock] += leapMs;
      assert.deepEqual([await mayDelete(), await mayClose()], [false, false]);
      pass(steadyMsMin - 1);
      assert.deepEqual([await mayDelete(), await mayClose()], [false, false]);
      pass(1);
      assert.deepEqual([await mayDelete(), await mayClose()], [true, true]);
      const [line, ...others] = listLines();
      assert.deepEqual([line[field], line.level, others], [leapMs, 40, []]);
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

test('a leap and its return are two leaps, and the 10 minutes begin again', async () => {
  const { time, pass, mayClose, listLines } = open();
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
  assert.equal(listLines().length, 2);
});

test('a clock that moves by at most a minute in 10 minutes does not leap', async () => {
  const { time, pass, mayClose, listLines } = open();
  await mayClose();
  for (let turn = 0; turn < 10; turn += 1) {
    pass(steadyMsMin);
    time.machineMs += leapMsMin;
    assert.equal(await mayClose(), true);
  }
  assert.deepEqual(listLines(), []);
});

test('many small steps are a leap once they are more than a minute', async () => {
  const { time, pass, mayClose } = open();
  const steady: boolean[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    steady.push(await mayClose());
    pass(minuteMs / 60);
    time.machineMs += minuteMs / 2;
  }
  assert.deepEqual(steady, [true, true, true, false]);
});
