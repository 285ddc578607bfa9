import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietBy } from '../../bench/quiet.ts';

/** A gauge that counts what it is given, one count a look and then always enough, on a clock that only waits move. */
function make(...counts: readonly number[]) {
  let looks = 0;
  let nowMs = 0;
  const pause = async (ms: number) => {
    nowMs += ms;
  };
  const countAnswers = async () => {
    looks += 1;
    return counts[looks - 1] ?? 100;
  };
  const quiet = quietBy(countAnswers, 100, { readMs: () => nowMs, pause });
  return { quiet, pause, readLooks: () => looks, load: () => quiet.measure('a server', async () => looks) };
}

test('a load waits for a quiet second, and one that is followed by none is done again', async () => {
  const { quiet, load, readLooks } = make(99, 100, 99, 50, 100, 101);
  assert.equal(await load(), 5);
  assert.equal(readLooks(), 6);
  assert.match(quiet.describe(), /at least 100 lists .*: a server 1 of 2\)$/);
});

test('the second after a load is the one before the next that follows at once, and before no later one', async () => {
  const { pause, load, readLooks } = make();
  await load();
  await load();
  assert.equal(readLooks(), 3);
  await pause(1_000);
  await load();
  assert.equal(readLooks(), 5);
});

test('an hour that is never quiet is waited for, and no longer', async () => {
  const { load, readLooks } = make(...Array<number>(10_000).fill(99));
  await assert.rejects(load, { message: /^an hour was not quiet enough / });
  assert.equal(readLooks(), 2 * 3_600 + 1);
});

test('neither is a load done again after an hour', async () => {
  const { quiet, pause } = make(...Array.from({ length: 1_000 }, (_, look) => (look % 2 === 0 ? 100 : 99)));
  const load = () => quiet.measure('a server', () => pause(600_000));
  await assert.rejects(load, { message: /^an hour was not quiet enough / });
  assert.match(quiet.describe(), /a server 7 of 7\)$/);
});

test('a load that fails is not done again', async () => {
  const { quiet, readLooks } = make();
  const failures = [new Error('first'), new Error('second')];
  const failing = () => quiet.measure('a server', () => Promise.reject(failures.shift()));
  await assert.rejects(failing, { message: 'first' });
  assert.equal(readLooks(), 1);
});
