import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { hourMs } from '../src/clock.ts';
import { flushLast, lastFlushMs } from '../src/last-flush.ts';
import { createLog } from '../src/observability/log.ts';

/** Starts a last flush that never settles, and counts how long it is waited for. */
function startHanging(t: TestContext, restMs: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const output = new PassThrough();
  const log = createLog('info', output);
  const flush = Promise.withResolvers<void>();
  let isOver = false;
  const ended = flushLast(() => flush.promise, restMs, null, log).then(() => {
    isOver = true;
  });
  return {
    flush,
    ended,
    async isOverAfter(ms: number) {
      t.mock.timers.tick(ms);
      await new Promise(setImmediate);
      return isOver;
    },
    readLog() {
      log.flush();
      return String(output.read() ?? '');
    },
  };
}

for (const [what, restMs, msMax] of [
  ['as long as the shutdown has left', 2_000, 2_000],
  ['at most four seconds', hourMs, lastFlushMs.most],
  ['at least a second, if the shutdown is late', -5_000, lastFlushMs.least],
] as const)
  test(`the last flush may take ${what}, and a hanging store is one line of the log`, async (t) => {
    const hanging = startHanging(t, restMs);
    assert.equal(await hanging.isOverAfter(msMax - 1), false);
    assert.equal(hanging.readLog(), '');
    assert.equal(await hanging.isOverAfter(1), true);
    assert.match(
      hanging.readLog(),
      /another program uses the store.*the last second of counts could not be written/,
    );
  });

test('a flush that takes three seconds is kept, without a line in the log', async (t) => {
  const slow = startHanging(t, hourMs);
  assert.equal(await slow.isOverAfter(3_000), false);
  slow.flush.resolve();
  await slow.ended;
  assert.equal(slow.readLog(), '');
});
