import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { createDurations, durationBoundsMs, exposeDurations } from '../../src/observability/metrics.ts';

const help = 'How long things took.';

/** Returns the output of prom-client's own histogram, which is slower, for the same durations. */
async function showByPromClient(durationsMs: readonly number[]): Promise<string> {
  const registry = new Registry();
  const buckets = durationBoundsMs.map((ms) => ms / 1000);
  const histogram = new Histogram({
    name: 'animal_store_things_seconds',
    help,
    buckets,
    labelNames: ['kind'],
    registers: [registry],
  });
  for (const ms of durationsMs) histogram.observe({ kind: 'a' }, ms / 1000);
  return registry.metrics();
}

async function show(durationsMs: readonly number[]): Promise<string> {
  const registry = new Registry();
  const durations = createDurations();
  exposeDurations(registry, 'things_seconds', help, () => [[{ kind: 'a' }, durations]]);
  for (const ms of durationsMs) durations.note(ms);
  return registry.metrics();
}

/** Returns the sorted lines without the sum, because rounding of the sum may differ. */
function toLines(text: string): string[] {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels) => `{${labels.split(',').sort()}}`));
  return lines.filter((line) => !line.includes('_sum')).sort();
}

test('the histogram of durations has the same output as a histogram of prom-client', async () => {
  const aDuration = fc.oneof(
    fc.constantFrom(...durationBoundsMs),
    fc.double({ min: 0, max: 10_000, noNaN: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(aDuration, { minLength: 1 }), async (durationsMs) => {
      assert.deepEqual(toLines(await show(durationsMs)), toLines(await showByPromClient(durationsMs)));
    }),
  );
});

test('the sum of durations is in seconds', async () => {
  assert.match(await show([250, 1_250]), /^animal_store_things_seconds_sum\{kind="a"\} 1\.5$/m);
});
