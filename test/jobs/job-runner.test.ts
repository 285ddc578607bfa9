import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/errors.ts';
import type { ClockWatch } from '../../src/jobs/clock-watch.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { recordLog } from '../support/recorded-log.ts';

const steady: ClockWatch = { mayClose: async () => true, mayDelete: async () => true };

test('the error of a failed job is logged, unless the store is unavailable', async () => {
  const { log, findLines } = recordLog();
  const jobs = createJobRunner(log, steady);
  const { promise: nextRun, resolve } = Promise.withResolvers<void>();
  const failures: unknown[] = [new Error('one'), new AppError('unavailable', 'two'), new Error('three')];
  const keepsRunning = setInterval(() => undefined, 1_000);
  const run = async () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    resolve();
  };
  jobs.start({ name: 'fail', everyMs: 1, run });
  await nextRun;
  jobs.stop();
  clearInterval(keepsRunning);
  const lines = findLines();
  assert.equal(lines.length, 2);
  assert.partialDeepStrictEqual(lines, [{ err: { message: 'one' } }, { err: { message: 'three' } }]);
});
