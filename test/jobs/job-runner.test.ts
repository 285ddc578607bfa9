import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { AppError } from '../../src/errors.ts';
import type { ClockWatch } from '../../src/jobs/clock-watch.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { createLog } from '../../src/observability/log.ts';

const steady: ClockWatch = { mayClose: async () => true, mayDelete: async () => true };

test('the error of a failed job is logged, unless the store is unavailable', async () => {
  const output = new PassThrough();
  const log = createLog('info', output);
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
  log.flush();
  output.end();
  const lines = (await text(output)).trim().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).err.message),
    ['one', 'three'],
  );
});
