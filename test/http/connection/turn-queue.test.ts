import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurnQueue } from '../../../src/http/connection/turn-queue.ts';
import type { Exchange } from '../../../src/http/exchange.ts';

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Creates a queue that notes the ids of the requests that begin, by turn. */
function createNotedQueue(requestsMax: number) {
  const turns: string[][] = [];
  const begin = ({ id }: Exchange) => void turns.at(-1)?.push(id);
  const together = (act: () => void) => {
    turns.push([]);
    act();
  };
  const queue = createTurnQueue(begin, { requestsMax, together });
  const add = (id: string, destroyed = false) => queue.add({ id, response: { destroyed } } as Exchange);
  return { turns, add, queue };
}

test('a turn begins at most its bound of requests, first in, first out', async () => {
  const { turns, add } = createNotedQueue(2);
  for (const id of ['a', 'b', 'c', 'd', 'e']) add(id);
  while (turns.flat().length < 5) await endOfTurn();
  assert.deepEqual(turns, [['a', 'b'], ['c', 'd'], ['e']]);
});

test('a turn begins no further request after its time', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const turns: string[][] = [];
  const begin = ({ id }: Exchange) => {
    turns.at(-1)?.push(id);
    nowMs += 1;
  };
  const together = (act: () => void) => {
    turns.push([]);
    act();
  };
  const queue = createTurnQueue(begin, { msMax: 2, together });
  for (const id of ['a', 'b', 'c']) queue.add({ id, response: { destroyed: false } } as Exchange);
  while (turns.flat().length < 3) await endOfTurn();
  assert.deepEqual(turns, [['a', 'b'], ['c']]);
});

test('a request that comes later begins after those that wait', async () => {
  const { turns, add } = createNotedQueue(2);
  for (const id of ['a', 'b', 'c']) add(id);
  while (turns.length === 0) await endOfTurn();
  add('d');
  while (turns.flat().length < 4) await endOfTurn();
  assert.deepEqual(turns.flat(), ['a', 'b', 'c', 'd']);
});

test('a request whose client has left does not begin', async () => {
  const { turns, add } = createNotedQueue(2);
  add('gone', true);
  add('here');
  while (turns.flat().length < 1) await endOfTurn();
  assert.deepEqual(turns, [['here']]);
});

test('the queue counts the requests that wait', async () => {
  const { turns, add, queue } = createNotedQueue(1);
  add('a');
  add('b');
  assert.equal(queue.count(), 2);
  while (turns.flat().length < 2) await endOfTurn();
  assert.equal(queue.count(), 0);
});
