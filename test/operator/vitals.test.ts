import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Registry } from 'prom-client';
import { createVitals } from '../../src/operator/console/vitals.ts';

test('a note counts the requests since the last one, and refused, rejected and failed ones apart', async () => {
  const registry = new Registry();
  const counter = new Counter({
    name: 'animal_store_requests_total',
    help: 'requests',
    labelNames: ['status'],
    registers: [registry],
  });
  let nowMs = 0;
  const vitals = createVitals(registry, () => nowMs);
  counter.inc({ status: '404' });
  await vitals.note();
  nowMs = 10_000;
  for (const [status, count] of [
    [200, 5],
    [404, 2],
    [400, 1],
    [429, 4],
    [503, 3],
  ] as const)
    counter.inc({ status: String(status) }, count);
  await vitals.note();
  assert.partialDeepStrictEqual(vitals.list(), [
    { atMs: 10_000, seconds: 10, requests: 15, refused: 4, rejected: 3, failed: 3 },
  ]);
});
