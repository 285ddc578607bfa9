import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFairQueue } from '../../../src/http/connection/fair-queue.ts';

/** Creates a queue and records the names of the tasks that have run. */
function startQueue(perTurn: number) {
  const done: string[] = [];
  const queue = createFairQueue(perTurn);
  const add = (name: string, owner = 'one') => queue.add(owner, () => done.push(name));
  return { done, add, queue };
}

test('a fair queue runs the tasks of one owner in order, with a bounded number in each event loop turn', async () => {
  const { done, add } = startQueue(2);
  for (const name of ['a', 'b', 'c', 'd', 'e']) add(name);
  assert.equal(done.join(''), '');
  for (const expected of ['ab', 'abcd', 'abcde']) {
    await nextTurn();
    assert.equal(done.join(''), expected);
  }
});

test('a fair queue serves owners round robin, however many tasks one of them has', async () => {
  const { done, add } = startQueue(10);
  for (const name of ['a', 'b', 'c']) add(name, 'many');
  add('x', 'few');
  add('y', 'other');
  await nextTurn();
  assert.equal(done.join(''), 'axybc');
});

test('a task of a fair queue may add another one, which runs after the waiting tasks', async () => {
  const { done, add, queue } = startQueue(1);
  queue.add('one', () => {
    done.push('first');
    add('of the first');
  });
  add('second');
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  assert.deepEqual(done, ['first', 'second', 'of the first']);
});

test('a task that was removed from a fair queue does not run and takes no turn', async () => {
  const { done, add } = startQueue(1);
  add('a');
  const withdraw = add('b');
  add('c');
  add('x', 'other')();
  withdraw();
  withdraw();
  for (let turn = 0; turn < 2; turn += 1) await nextTurn();
  assert.equal(done.join(''), 'ac');
  add('d');
  await nextTurn();
  assert.equal(done.join(''), 'acd');
});
