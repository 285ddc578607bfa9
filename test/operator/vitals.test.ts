import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createVitals } from '../../src/operator/console/vitals.ts';

test('a note has the counts by outcome and the times of the requests since the last note', async () => {
  let nowMs = 0;
  const { observer, note, list } = createVitals(new Registry(), () => nowMs);
  observer.note({} as never, 404, 5_000);
  nowMs = 10_000;
  await note();
  nowMs = 20_000;
  for (const status of [404, 400, 429, 429, 503]) observer.note({} as never, status, 2);
  for (let ms = 1; ms <= 5; ms += 1) observer.note({} as never, 200, ms);
  observer.noteMalformed({ requestId: '', status: 400, address: '' });
  await note();
  const [, { medianMs = null, slowMs = null, ...counts } = assert.fail()] = list();
  assert.deepEqual(counts, { atMs: 20_000, seconds: 10, requests: 11, refused: 2, rejected: 3, failed: 1 });
  assert.deepEqual([Math.round(medianMs ?? 0), Math.round(slowMs ?? 0)], [2, 5]);
  nowMs = 30_000;
  await note();
  assert.partialDeepStrictEqual(list()[2], { requests: 0, medianMs: null, slowMs: null });
});
