import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFairQueue } from '../../../src/storage/postgres/fair-queue.ts';
import { unavailable } from '../../contracts/window-rows.ts';

const roomy = { max: 3, ofAccountMax: 2, waitingMax: 100, waitMsMax: 60_000 };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Starts tasks by their names, each for the account that its name begins with. `-` is no account. All end after the test. */
function prepare(t: TestContext, bounds: Partial<typeof roomy> = {}) {
  const turns = createFairQueue({ ...roomy, ...bounds });
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  t.after(() => {
    for (const end of ends.values()) end();
  });

  function start(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    const [account = ''] = name;
    return turns.run(account === '-' ? undefined : BigInt(account.charCodeAt(0)), () => {
      begun.push(name);
      return promise;
    });
  }

  return {
    begun,
    start,
    startAll: (...names: readonly string[]) => names.map(start),
    countWaiting: turns.countWaiting,
    async end(name: string): Promise<void> {
      ends.get(name)?.();
      await nextTurn();
    },
  };
}

test('at most two tasks of an account run at once, in their order', async (t) => {
  const { startAll, begun, end, countWaiting } = prepare(t);
  startAll('a1', 'a2', 'a3', 'a4');
  await nextTurn();
  assert.deepEqual(begun, ['a1', 'a2']);
  assert.equal(countWaiting(), 2);
  await end('a2');
  assert.deepEqual(begun, ['a1', 'a2', 'a3']);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'a4']);
  assert.equal(countWaiting(), 0);
});

test('a task of another account begins, although many of one account wait before it', async (t) => {
  const { startAll, begun } = prepare(t);
  startAll('a1', 'a2', 'a3', 'a4', 'b1');
  await nextTurn();
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
});

test('accounts take turns while all places are taken', async (t) => {
  const { startAll, begun, end } = prepare(t);
  startAll('a1', 'a2', 'b1', 'b2', 'b3', 'a3', 'a4', 'c1');
  await nextTurn();
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  await end('a1');
  await end('b1');
  await end('a2');
  assert.deepEqual(
    begun
      .slice(3)
      .map(([account]) => account)
      .sort(),
    ['a', 'b', 'c'],
  );
});

test('tasks without an account are bounded only by the places', async (t) => {
  const { startAll, begun } = prepare(t);
  startAll('-1', '-2', '-3', '-4');
  await nextTurn();
  assert.deepEqual(begun, ['-1', '-2', '-3']);
});

test('a task that is refused because it waited too long takes no turn from later ones', async (t) => {
  const { start, startAll, begun, end } = prepare(t, { waitMsMax: 1 });
  startAll('a1', 'a2');
  await assert.rejects(start('a3'), unavailable);
  await end('a1');
  start('a4');
  await nextTurn();
  assert.deepEqual(begun, ['a1', 'a2', 'a4']);
});

test('only an account with too many waiting tasks is refused at once', async (t) => {
  const { start, startAll, begun } = prepare(t, { waitingMax: 1 });
  startAll('a1', 'a2', 'a3');
  await assert.rejects(start('a4'), unavailable);
  start('b1');
  await nextTurn();
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
});

test('a task that fails gives its place to the next', async () => {
  const turns = createFairQueue({ ...roomy, max: 1 });
  const failing = turns.run(1n, () => Promise.reject(new Error('no')));
  const next = turns.run(1n, async () => 'done');
  await assert.rejects(failing, /no/);
  assert.equal(await next, 'done');
});
