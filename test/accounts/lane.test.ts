import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLane, type LaneBounds, sentAway } from '../../src/accounts/lane.ts';

/** A lane whose tasks note that they have begun, and end when the test says so. */
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

test('a lane runs a task within the call while it has room', () => {
  const { run, begun } = open({ runningMax: 2 });
  for (const address of ['a', 'a', 'b']) void run(address);
  assert.deepEqual(begun, ['a', 'a']);
});

test('addresses whose tasks wait take turns, however many one of them has', async () => {
  const { run, begun, endNext } = open();
  const running = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(run);
  while (begun.length < running.length) await endNext();
  await endNext();
  assert.equal(begun.join(''), 'aabcaba');
  assert.equal((await Promise.all(running)).join(''), 'aaaabbc');
});

test('a lane refuses more tasks of one address than may wait, but still takes those of others', async () => {
  const { run, begun, endNext } = open({ waitingPerAddressMax: 2 });
  assert.deepEqual(
    ['a', 'a', 'a', 'a', 'b'].map((address) => run(address) !== null),
    [true, true, true, false, true],
  );
  await endNext();
  assert.notEqual(run('a'), null);
  assert.deepEqual(begun, ['a', 'a']);
});

test('a lane takes no more tasks than may wait in all', () => {
  const { run } = open({ waitingMax: 2 });
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((address) => run(address) !== null),
    [true, true, true, false],
  );
});

test('the tasks of an address that is sent away do not run and free their places', async () => {
  const { run, sendAway, begun, endNext } = open({ waitingMax: 3 });
  const tasks = ['a', 'b', 'a', 'a'].map(run);
  assert.equal(run('c'), null);
  sendAway('a');
  assert.deepEqual(await Promise.all(tasks.slice(2)), [sentAway, sentAway]);
  assert.notEqual(run('c'), null);
  for (let count = 0; count < 3; count += 1) await endNext();
  assert.equal(begun.join(''), 'abc');
});

test('after a failed task the next one runs', async () => {
  const { run, begun, endNext } = open();
  const [first] = ['a', 'b'].map(run);
  const failing = assert.rejects(async () => first);
  await endNext('reject');
  await failing;
  assert.deepEqual(begun, ['a', 'b']);
});
