import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { arrivedPerTurn, createRota, shortTurnMs } from '../../../src/http/rota.ts';

/** A rota, what has run, and how many have arrived. */
function startRota(least: number, most = least) {
  const done: string[] = [];
  const door = { arrivals: 0 };
  const take = createRota({ least, most }, () => door.arrivals);
  const add = (name: string, owner = 'one') => take(owner, () => done.push(name));
  /** Adds one that makes its turn a long one. */
  const addLong = (name: string) =>
    take('one', () => {
      done.push(name);
      work();
    });
  return { done, door, take, add, addLong };
}

async function passTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

test('tasks run in their order, so many in a turn, with what else waits in between', async () => {
  const { done, add } = startRota(2);
  for (const name of ['a', 'b', 'c', 'd', 'e']) add(name);
  assert.deepEqual(done, []);
  await nextTurn();
  assert.deepEqual(done, ['a', 'b']);
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd']);
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd', 'e']);
});

test('owners take turns, however many tasks one of them has', async () => {
  const { done, add } = startRota(1);
  for (const name of ['a', 'b', 'c']) add(name, 'many');
  add('x', 'few');
  add('y', 'other');
  await passTurns(5);
  assert.deepEqual(done, ['a', 'x', 'y', 'b', 'c']);
});

test('a task may have another one wait, behind those that are there', async () => {
  const { done, add, take } = startRota(1);
  take('one', () => {
    done.push('first');
    add('of the first');
  });
  add('second');
  await passTurns(3);
  assert.deepEqual(done, ['first', 'second', 'of the first']);
});

test('what is called off does not run, and takes no turn', async () => {
  const { done, add } = startRota(1);
  add('a');
  const callOff = add('b');
  add('c');
  add('x', 'other')();
  callOff();
  callOff();
  await passTurns(2);
  assert.deepEqual(done, ['a', 'c']);
  add('d');
  await nextTurn();
  assert.deepEqual(done, ['a', 'c', 'd']);
});

test('while turns are short, ever more tasks run in one', async () => {
  const { done, add } = startRota(1, 4);
  for (let number = 0; number < 20; number += 1) add(String(number));
  const counts: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    await nextTurn();
    counts.push(done.length);
  }
  assert.deepEqual(counts, [1, 3, 7, 11]);
});

/** Keeps the thread busy for longer than a short turn takes. */
function work(): void {
  const endMs = performance.now() + shortTurnMs;
  while (performance.now() < endMs);
}

async function passLongTurn(): Promise<void> {
  await nextTurn();
  work();
}

test('once turns are long, the least run again, and more only to keep pace with those who arrive', async () => {
  const { done, door, addLong } = startRota(1, 4);
  for (let number = 0; number < 20; number += 1) addLong(String(number));
  await passTurns(1);
  assert.equal(done.length, 1);
  await passTurns(1);
  assert.equal(done.length, 2);
  door.arrivals += 3;
  while (done.length < 3) await passLongTurn();
  assert.equal(done.length, 5);
  door.arrivals += 100;
  while (done.length < 6) await passLongTurn();
  assert.equal(done.length, 5 + arrivedPerTurn);
  await passTurns(1);
  assert.equal(done.length, 6 + arrivedPerTurn);
});

test('tasks give way to those who arrive, but not for ever', async () => {
  const { done, door, add } = startRota(1);
  add('a');
  door.arrivals += 1;
  await nextTurn();
  assert.deepEqual(done, []);
  while (done.length === 0) {
    door.arrivals += 1;
    await nextTurn();
  }
  assert.deepEqual(done, ['a']);
});

test('a long turn is not forgotten while tasks give way to those who arrive', async () => {
  const { done, door, addLong } = startRota(2, 64);
  for (let number = 0; number < 200; number += 1) addLong(String(number));
  await passTurns(1);
  assert.equal(done.length, 2);
  for (let batch = 1; batch < 4; batch += 1) {
    door.arrivals += 1;
    await passTurns(2);
    assert.equal(done.length, 2 + 2 * batch);
  }
});
