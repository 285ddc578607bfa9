import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { type Answer, makeTaggedAnswer } from '../../../src/http/response/answer.ts';
import { createResponseCache } from '../../../src/http/response/response-cache.ts';
import type { CacheHeap, CacheHeapWork } from './cache-heap.ts';

const answer = makeTaggedAnswer('[]');

function createCache(bytesMax = 1_000_000) {
  return createResponseCache({ read: () => '1' }, new Registry(), bytesMax);
}

test('the cache finds an answer only by its target and the version at which the answer was made', () => {
  const cache = createCache();
  const other = makeTaggedAnswer('{}');
  const keep = (target: string, kept: Answer, version: string) => {
    cache.find(target, version);
    cache.keep(target, kept, version);
  };
  keep('/v1/pets', answer, '1');
  keep('/v1/pets/7', other, '1');
  assert.deepEqual([cache.find('/v1/pets', '1'), cache.find('/v1/pets/7', '1')], [answer, other]);
  for (const version of ['1', null]) assert.equal(cache.find('/v1/pets?limit=20', version), null);
  assert.equal(cache.find('/v1/pets', null), null);
  assert.equal(cache.find('/v1/pets', '1'), answer);
  assert.equal(cache.find('/v1/pets', '2'), null);
  cache.keep('/v1/pets', answer, '1');
  assert.equal(cache.find('/v1/pets', '2'), null);
  cache.keep('/v1/pets', other, '2');
  assert.equal(cache.find('/v1/pets', '2'), other);
  cache.keep('/v1/pets/9', answer, null);
  assert.equal(cache.find('/v1/pets/9', null), null);
});

test('the bound of the cache counts header lines', () => {
  const cache = createCache(100_000);
  const linked = makeTaggedAnswer('[]', ['link', `<${'x'.repeat(10_000)}>; rel="next"`]);
  cache.find('/v1/pets/0', '1');
  for (let number = 0; number < 100; number += 1) cache.keep(`/v1/pets/${number}`, linked, '1');
  const found = Array.from({ length: 100 }, (_, number) => cache.find(`/v1/pets/${number}`, '1'));
  const count = found.filter(Boolean).length;
  assert.ok(count > 1 && count <= 100_000 / 10_000, `${count}`);
});

for (const [what, prefix, text] of [
  ['animals', '/v1/pets/', '{}'],
  ['pages', '/v1/pets?cursor=', '[]'],
  ['pages in a wide script', '/v1/pets?cursor=', JSON.stringify('犬'.repeat(100))],
] as const)
  test(`cached ${what} stay within the bound of the heap until a new version frees them`, async () => {
    const bytesMax = 16 * 2 ** 20;
    const workerData: CacheHeapWork = { prefix, text, bytesMax };
    const worker = new Worker(join(import.meta.dirname, 'cache-heap.ts'), { workerData });
    const [{ most, left }] = (await once(worker, 'message')) as [CacheHeap];
    assert.ok(most <= bytesMax, `${most}`);
    assert.ok(most > bytesMax / 2, `${most}`);
    assert.ok(left < 2 ** 20, `${left}`);
  });
