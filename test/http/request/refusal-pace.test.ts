import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { secondMs } from '../../../src/clock.ts';
import { createRefusalPace, refusalPace } from '../../../src/http/request/refusal-pace.ts';
import { eventually } from '../../support/redis-server.ts';

const { burst, perSecond } = refusalPace;

/** A pace whose burst is spent, and whose time stands still until it is moved. */
function createSpentPace() {
  let nowMs = 0;
  const pace = createRefusalPace(() => nowMs);
  const answered: string[] = [];
  const refuse = (name: string) => {
    const response = new EventEmitter();
    const taken = pace.take(response as unknown as ServerResponse);
    void Promise.resolve(taken).then((waitedMs) => answered.push(`${name} ${waitedMs}`));
    return response;
  };
  for (let spent = 0; spent < burst; spent += 1) assert.equal(pace.take({} as ServerResponse), 0);
  return {
    pace,
    refuse,
    answered,
    move(ms: number): void {
      nowMs += ms;
    },
  };
}

test('refusals beyond the burst are answered at the pace, in the order of their arrival', async () => {
  const { pace, refuse, answered, move } = createSpentPace();
  for (const name of ['a', 'b', 'c']) refuse(name);
  assert.equal(pace.count(), 3);
  move((2 * secondMs) / perSecond);
  await eventually(async () => answered.length === 2);
  assert.deepEqual(answered, ['a 1', 'b 1']);
  move(secondMs / perSecond);
  await eventually(async () => answered.length === 3);
  assert.deepEqual(answered, ['a 1', 'b 1', 'c 1.5']);
});

test('a refusal waits behind those that came before it, even if the pace would allow it', async () => {
  const { refuse, answered, move, pace } = createSpentPace();
  refuse('a');
  move(secondMs);
  refuse('b');
  assert.equal(pace.count(), 2);
  await eventually(async () => answered.length === 2);
  assert.deepEqual(answered, [`a ${secondMs}`, 'b 0']);
});

test('a client that leaves frees its place', async () => {
  const { pace, refuse, answered, move } = createSpentPace();
  refuse('gone').emit('close');
  refuse('next');
  assert.equal(pace.count(), 1);
  move(secondMs / perSecond);
  await eventually(async () => answered.length === 2);
});

test('no refusal waits after the end of the pace', async () => {
  const { pace, refuse, answered } = createSpentPace();
  refuse('a');
  pace.end();
  refuse('b');
  await eventually(async () => answered.length === 2);
  assert.equal(pace.count(), 0);
});
