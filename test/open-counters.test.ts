import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { hourMs } from '../src/clock.ts';
import { createLog } from '../src/observability/log.ts';
import { flushLast, lastFlushMs } from '../src/open-counters.ts';
import { storeUnavailable } from '../src/storage/store-errors.ts';

/** Starts a last flush that never settles, with mocked timers. */
function startHanging(t: TestContext, restMs: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const output = new PassThrough();
  const log = createLog('info', output);
  const flush = Promise.withResolvers<void>();
  let isOver = false;
  const ended = flushLast(() => flush.promise, restMs, false, log).then(() => {
    isOver = true;
  });
  return {
    flush,
    ended,
    /** Returns whether the flush is over after `ms` more, and the log since the last call. */
    async lookAfter(ms: number) {
      t.mock.timers.tick(ms);
      await new Promise(setImmediate);
      log.flush();
      return { isOver, logged: String(output.read() ?? '') };
    },
  };
}

for (const [what, restMs, msMax] of [
  ['the rest of the shutdown time', 2_000, 2_000],
  ['at most 4 s', hourMs, lastFlushMs.most],
  ['1 s even if the shutdown is late', -5_000, lastFlushMs.least],
] as const)
  test(`the last flush may take ${what} before the log tells of a hanging store`, async (t) => {
    const hanging = startHanging(t, restMs);
    assert.deepEqual(await hanging.lookAfter(msMax - 1), { isOver: false, logged: '' });
    const { isOver, logged } = await hanging.lookAfter(1);
    assert.equal(isOver, true);
    assert.match(logged, /another program uses the store.*the last second of counts could not be written/);
  });

test('a last flush that takes 3 s succeeds without a log line', async (t) => {
  const slow = startHanging(t, hourMs);
  assert.equal((await slow.lookAfter(3_000)).isOver, false);
  slow.flush.resolve();
  await slow.ended;
  assert.equal((await slow.lookAfter(0)).logged, '');
});

test('a last flush into a damaged store logs the reason without a stack trace', async (t) => {
  const failing = startHanging(t, hourMs);
  failing.flush.reject(storeUnavailable(new Error('database disk image is malformed')));
  await failing.ended;
  const { logged } = await failing.lookAfter(0);
  const { reason, stack, err, msg } = JSON.parse(logged);
  assert.deepEqual(
    { reason, stack, err },
    { reason: 'database disk image is malformed', stack: undefined, err: undefined },
  );
  assert.equal(msg, 'the last second of counts could not be written');
});
