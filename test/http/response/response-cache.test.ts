import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { makeTaggedAnswer } from '../../../src/http/response/answer.ts';
import { toLines } from '../../../src/http/response/header-lines.ts';
import { type CacheKey, createResponseCache } from '../../../src/http/response/response-cache.ts';
import type { Route } from '../../../src/http/route.ts';
import type { CacheHeapWork } from './cache-heap.ts';

interface Version {
  readonly edits: number;
}

const [pets, pet] = [{}, {}] as [Route, Route];
const answer = makeTaggedAnswer('[]');

/** Creates a cache over a store whose version a test sets. An answer is fresh until the version has `edits` edits. */
function createWorld(bytesMax = 1_000_000) {
  const world = { version: { edits: 0 } as Version | null, isFailing: false };
  const registry = new Registry();
  const cache = createResponseCache<number, Version>(
    {
      read() {
        if (world.isFailing) throw new Error('the store fails');
        return world.version ?? assert.fail();
      },
      latest() {
        if (world.isFailing) throw new Error('the store fails');
        return world.version;
      },
      isFresh: (edits, _since, now) => now.edits < edits,
    },
    registry,
    bytesMax,
  );
  const keep = (key: CacheKey, kept = answer, edits = 1) => cache.keep(pet, key, kept, edits, world.version);
  return { world, registry, cache, keep };
}

test('the cache finds answers by route and key', () => {
  const { cache, keep } = createWorld();
  const keys = [7, 70, '7', '07', '', 'limit=7', '1 7?limit=7', 999_999_999, '1000000000'];
  const answers = keys.map((key) => makeTaggedAnswer(JSON.stringify(key)));
  for (const [index, key] of keys.entries()) keep(key, answers[index]);
  assert.deepEqual(
    keys.map((key) => cache.find(pet, key)),
    answers,
  );
  for (const other of [8, 77, '8', 'limit=8']) assert.equal(cache.find(pet, other), null);
  for (const key of keys) assert.equal(cache.find(pets, key), null);
});

test('the cache finds an answer only as long as the answer is fresh', () => {
  const { world, cache, keep } = createWorld();
  keep('a', answer, 1);
  keep('b', answer, 2);
  world.version = { edits: 0 };
  assert.deepEqual([cache.find(pet, 'a'), cache.find(pet, 'b')], [answer, answer]);
  world.version = { edits: 1 };
  assert.deepEqual([cache.find(pet, 'a'), cache.find(pet, 'b')], [null, answer]);
  world.version = { edits: 2 };
  assert.equal(cache.find(pet, 'b'), null);
});

test('the cache stores and finds nothing while the version of the store is unknown', () => {
  const { world, cache, keep } = createWorld();
  keep('b');
  world.version = null;
  keep('a');
  assert.equal(cache.find(pet, 'b'), null);
  world.version = { edits: 0 };
  assert.deepEqual([cache.find(pet, 'a'), cache.find(pet, 'b')], [null, answer]);
});

test('the cache finds nothing and does not throw while the version of the store cannot be read', () => {
  const { world, cache, keep } = createWorld();
  keep('a');
  world.isFailing = true;
  assert.equal(cache.find(pet, 'a'), null);
  assert.equal(cache.readVersion(), null);
});

test('the cache counts answers from memory and from the store', async () => {
  const { registry, cache, keep } = createWorld();
  keep('a');
  for (let number = 0; number < 3; number += 1) cache.find(pet, 'a');
  cache.find(pet, 'b');
  const metrics = await registry.metrics();
  assert.match(metrics, /^animal_store_cached_answers_total\{source="memory"\} 3$/m);
  assert.match(metrics, /^animal_store_cached_answers_total\{source="store"\} 1$/m);
});

const toId = (number: number) => number;
const toQuery = (number: number) => `limit=${number}`;

for (const [what, toKey] of [
  ['numbers', toId],
  ['texts', toQuery],
] as const) {
  test(`the cache stays within its bound and keeps frequently used answers, with ${what} as keys`, () => {
    const { cache, keep } = createWorld(100_000);
    const wanted = toKey(20_000);
    keep(wanted);
    for (let number = 0; number < 10_000; number += 1) {
      keep(toKey(number));
      assert.equal(cache.find(pet, wanted), answer);
    }
    const found = Array.from({ length: 10_000 }, (_, number) => cache.find(pet, toKey(number)));
    const count = found.filter(Boolean).length;
    assert.ok(count > 10 && count < 100_000 / 400, `${count}`);
  });

  test(`an answer that is stored repeatedly counts once towards the bound, with ${what} as keys`, () => {
    const { cache, keep } = createWorld(100_000);
    keep('first');
    for (let number = 0; number < 10_000; number += 1) keep(toKey(1));
    assert.equal(cache.find(pet, 'first'), answer);
  });
}

test('the bound of the cache counts header lines', () => {
  const { cache, keep } = createWorld(100_000);
  const linked = makeTaggedAnswer('[]', toLines({ link: `<${'x'.repeat(10_000)}>; rel="next"` }));
  for (let number = 0; number < 100; number += 1) keep(number, linked);
  const found = Array.from({ length: 100 }, (_, number) => cache.find(pet, number)).filter(Boolean);
  assert.ok(found.length > 1 && found.length <= 100_000 / 10_000, `${found.length}`);
});

for (const [what, prefix, text] of [
  ['animals', null, '{}'],
  ['animals with long ids', '1000000000', '{}'],
  ['pages', 'cursor=', '[]'],
  ['pages in a wide script', 'cursor=', JSON.stringify('犬'.repeat(100))],
] as const)
  test(`the heap use of cached ${what} stays within the bound, even if each has a different version of the store`, async () => {
    const bytesMax = 16 * 2 ** 20;
    const workerData: CacheHeapWork = { prefix, text, bytesMax };
    const worker = new Worker(join(import.meta.dirname, 'cache-heap.ts'), { workerData });
    const [most] = (await once(worker, 'message')) as [number];
    assert.ok(most <= bytesMax, `${most}`);
    assert.ok(most > bytesMax / 2, `${most}`);
  });
