import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { batchedAnswersMax, createAnswerBatch } from '../../../src/http/connection/answer-batch.ts';

/** Creates a batch and records the sent bodies. */
function startBatch() {
  const batch = createAnswerBatch();
  const sent: string[] = [];
  const response = { end: (body = 'none') => sent.push(body) } as unknown as ServerResponse;
  return { sent, flush: batch.flush, end: (body: string | null) => batch.end(response, body) };
}

test('a batch sends its answers in order at the end of the event loop turn', async () => {
  const { end, sent } = startBatch();
  for (const body of ['one', null, 'three']) end(body);
  await Promise.resolve();
  assert.deepEqual(sent, []);
  await turnEnds();
  assert.deepEqual(sent, ['one', 'none', 'three']);
});

test('a full batch is sent immediately, and later answers at the end of the event loop turn', async () => {
  const { end, sent } = startBatch();
  for (let number = 1; number < batchedAnswersMax; number += 1) end(`${number}`);
  assert.equal(sent.length, 0);
  end('the last');
  assert.equal(sent.length, batchedAnswersMax);
  end('one more');
  assert.equal(sent.length, batchedAnswersMax);
  await turnEnds();
  assert.equal(sent.at(-1), 'one more');
});

test('a flushed answer is not sent again', async () => {
  const { end, flush, sent } = startBatch();
  end('one');
  flush();
  assert.deepEqual(sent, ['one']);
  flush();
  end('two');
  for (let turn = 0; turn < 2; turn += 1) await turnEnds();
  assert.deepEqual(sent, ['one', 'two']);
});
