import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLane, type LaneBounds, sentAway } from '../../src/accounts/lane.ts';

/** Creates a lane. Its tasks record that they have begun, and end when the test calls `endNext`. */
function open(bounds: Partial<LaneBounds> = {}) {
  const lane = createLane({ runningMax: 1, waitingMax: 100, waitingPerAddressMax: 100, ...bounds });
  const begun: string[] = [];
  const ends: PromiseWithResolvers<void>[] = [];

  function run(address: string) {
    return lane.run(address, async () => {
      const end = Promise.withResolvers<void>();
      begun.push(address);
      ends.push(end);
      await end.promise;
      return address;
    });
  }
  async function endNext(how: 'resolve' | 'reject' = 'resolve'): Promise<void> {
    ends.shift()?.[how]();
    await nextTurn();
  }
  return { ...lane, run, begun, endNext };
}

test('a lane starts a task synchronously if fewer than runningMax tasks run', () => {
  const { run, begun } = open({ runningMax: 2 });
  for (const address of ['a', 'a', 'b']) void run(address);
  assert.deepEqual(begun, ['a', 'a']);
});

test('waiting addresses take turns, however many tasks one of them has', async () => {
  const { run, begun, endNext } = open();
  const running = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(run);
  while (begun.length < running.length) await endNext();
  await endNext();
  assert.equal(begun.join(''), 'aabcaba');
  assert.equal((await Promise.all(running)).join(''), 'aaaabbc');
});

test('a lane refuses a task if too many tasks of its address wait, but still accepts tasks of other addresses', async () => {
  const { run, begun, endNext } = open({ waitingPerAddressMax: 2 });
  assert.deepEqual(
    ['a', 'a', 'a', 'a', 'b'].map((address) => run(address) !== null),
    [true, true, true, false, true],
  );
  await endNext();
  assert.notEqual(run('a'), null);
  assert.deepEqual(begun, ['a', 'a']);
});

test('a lane refuses a task if too many tasks wait in total', () => {
  const { run } = open({ waitingMax: 2 });
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((address) => run(address) !== null),
    [true, true, true, false],
  );
});

test('sendAway removes the waiting tasks of an address and frees their places', async () => {
  const { run, sendAway, begun, endNext } = open({ waitingMax: 3 });
  const tasks = ['a', 'b', 'a', 'a'].map(run);
  assert.equal(run('c'), null);
  sendAway('a');
  assert.deepEqual(await Promise.all(tasks.slice(2)), [sentAway, sentAway]);
  assert.notEqual(run('c'), null);
  for (let count = 0; count < 3; count += 1) await endNext();
  assert.equal(begun.join(''), 'abc');
});

test('a lane runs the next task after a task has failed', async () => {
  const { run, begun, endNext } = open();
  const [first] = ['a', 'b'].map(run);
  const failing = assert.rejects(async () => first);
  await endNext('reject');
  await failing;
  assert.deepEqual(begun, ['a', 'b']);
});
