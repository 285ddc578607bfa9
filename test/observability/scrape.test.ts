import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';

test('scrapes under load have counters that never decrease, and finally count every request', async (t) => {
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

  let before = new Map<string, number>();
  let scrapes = 0;
  const scrape = async () => {
    const answer = await fetch(`${app.opsUrl}/metrics`);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const counters = (await answer.text()).matchAll(
      /^(animal_store_\w+_(?:total|bucket|count)(?:\{.*\})?) (\d+)$/gm,
    );
    const now = new Map(Array.from(counters, ([, name = '', value]) => [name, Number(value)]));
    for (const [name, value] of before) assert.ok((now.get(name) ?? 0) >= value, name);
    before = now;
    scrapes += 1;
  };
  while (isLoaded) await scrape();
  await loaded;
  assert.ok(scrapes > 1);
  await scrape();
  const sumOf = (start: string) =>
    [...before].reduce((sum, [name, value]) => (name.startsWith(start) ? sum + value : sum), 0);
  assert.equal(sumOf('animal_store_requests_total{'), 16 * 50);
  assert.equal(sumOf('animal_store_request_duration_seconds_count'), 16 * 50);
});
