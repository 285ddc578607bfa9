import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { createDurations, durationBoundsMs, expose } from '../../src/observability/metrics.ts';

test('the histogram of durations is in seconds and shows what a histogram of prom-client shows', async () => {
  const [own, other] = [new Registry(), new Registry()];
  const durations = createDurations();
  expose(own, 'histogram', 'things_seconds', 'How long things took.', () =>
    durations.listSamples({ kind: 'a' }),
  );
  const histogram = new Histogram({
    name: 'animal_store_things_seconds',
    help: 'How long things took.',
    buckets: durationBoundsMs.map((ms) => ms / 1_000),
    labelNames: ['kind'],
    registers: [other],
  });
  for (const ms of [...durationBoundsMs, 0, 0.25, 7, 7, 5_001, 60_000]) {
    durations.note(ms);
    histogram.observe({ kind: 'a' }, ms / 1_000);
  }
  const listLines = async (registry: Registry) =>
    (await registry.metrics())
      .split('\n')
      .map((line) => line.replace(/\{(.*)\}/, (_, labels) => `{${labels.split(',').sort()}}`))
      .filter((line) => !line.includes('_sum'))
      .sort();
  assert.deepEqual(await listLines(own), await listLines(other));
  assert.match(await own.metrics(), /_sum\{kind="a"\} 74\.459/);
});
