import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';

const sample = /^([a-z_]\w*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$/i;

/** Matches numbers as Prometheus parses them. NaN is valid: the event loop lag is NaN right after another scrape. */
const isNumber = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf)|nan)$/i;

/** Parses an exposition as Prometheus does. Returns the samples by name and labels. Throws for an invalid line. */
function readExposition(text: string): Map<string, number> {
  assert.ok(text.endsWith('\n'));
  const samples = new Map<string, number>();
  const typed = new Set<string>();
  for (const line of text.trimEnd().split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const [, name] = /^# TYPE (\w+) (?:counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (name !== undefined) {
      assert.ok(!typed.has(name), `${name} has two types`);
      typed.add(name);
      continue;
    }
    const [, metric = '', labels = '', value = ''] = sample.exec(line) ?? [];
    assert.ok(metric !== '' && isNumber.test(value), line);
    assert.ok(
      typed.has(metric) || typed.has(metric.replace(/_(?:bucket|sum|count)$/, '')),
      `no type: ${line}`,
    );
    const key = `${metric}{${labels}}`;
    assert.ok(!samples.has(key), `twice: ${line}`);
    samples.set(key, Number(value));
  }
  return samples;
}

/** Throws unless the buckets of each histogram are cumulative and the last one equals its count. */
function expectHistograms(samples: Map<string, number>): void {
  let buckets = 0;
  const last = new Map<string, number>();
  for (const [key, value] of samples) {
    const [, name = '', labels = ''] = /^(\w+)_bucket\{(.*)\}$/.exec(key) ?? [];
    if (name === '') continue;
    const series = labels.replace(/,?le="[^"]*",?/, '');
    assert.ok(value >= (last.get(name + series) ?? 0), `${key} is below the bucket before it`);
    last.set(name + series, value);
    if (labels.includes('le="+Inf"')) assert.equal(value, samples.get(`${name}_count{${series}}`), key);
    buckets += 1;
  }
  assert.ok(buckets > 10);
}

test('scrapes under load are well-formed, have counters that never decrease, and finally count every request', async (t) => {
  const { app, createKey, request, post } = await startService(t);
  const key = await createKey();
  let isLoaded = true;
  const clients = Array.from({ length: 16 }, async (_, client) => {
    for (let count = 0; count < 50; count += 1) {
      if (client % 4 === 0) await post(key, '{"name":"Rex","categoryId":1}');
      else await request(client % 4 === 1 ? null : key, client % 4 === 2 ? '/pets?limit=1' : '/pets?limit=0');
    }
  });
  const loaded = Promise.all(clients).finally(() => {
    isLoaded = false;
  });

  const countAnswered = (samples: Map<string, number>) =>
    [...samples].reduce(
      (sum, [name, value]) => (name.startsWith('animal_store_requests_total{') ? sum + value : sum),
      0,
    );
  let before = 0;
  let scrapes = 0;
  const scrape = async () => {
    const answer = await fetch(`${app.opsUrl}/metrics`);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const samples = readExposition(await answer.text());
    expectHistograms(samples);
    const answered = countAnswered(samples);
    assert.ok(answered >= before);
    before = answered;
    scrapes += 1;
    return answered;
  };
  while (isLoaded) await scrape();
  await loaded;
  assert.ok(scrapes > 1);
  assert.equal(await scrape(), 16 * 50);
});
