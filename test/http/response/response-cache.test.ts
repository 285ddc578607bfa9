import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { toLines } from '../../../src/http/head.ts';
import { createReadyAnswerMaker, createReadyAnswers } from '../../../src/http/ready-answers.ts';
import type { Stamp } from '../../../src/pets/stamps.ts';
import type { ReadyHeapWork } from './cache-heap.ts';

const makeAnswer = createReadyAnswerMaker('listPets');
const answer = makeAnswer('[]');

/** Ready answers over a store of which a test says what it holds, and a clock that it moves. */
function createWorld({ bytesMax = 1_000_000 } = {}) {
  const world = { stamp: { newestId: 5n, edits: 0n } as Stamp | null, nowMs: 1_000 };
  const ready = createReadyAnswers(
    () => world.stamp,
    () => world.nowMs,
    bytesMax,
  );
  return { world, ready };
}

test('finds what was kept', () => {
  const { world, ready } = createWorld();
  ready.keep('/a', answer, { until: 'added' }, world.stamp);
  assert.equal(ready.find('/a'), answer);
  assert.equal(ready.find('/b'), null);
});

test('tells addresses apart that are alike', () => {
  const { world, ready } = createWorld();
  const ids = [
    '7',
    '07',
    '7/',
    '7?',
    '70',
    '/7',
    '-7',
    '7e0',
    '',
    ' 7',
    '999999999',
    '1000000000',
    '1000000007',
    '٧',
  ];
  const targets = [
    ...ids.map((id) => `/v1/pets/${id}`),
    '7',
    '/v1/pets',
    '/v1/pets?7',
    '/v2/pets/7',
    '/docs/8/7',
  ];
  const answers = targets.map((target) => makeAnswer(JSON.stringify(target)));
  for (const [index, target] of targets.entries())
    ready.keep(target, answers[index] ?? answer, { until: 'edited' }, world.stamp);
  assert.deepEqual(
    targets.map((target) => ready.find(target)?.body),
    answers.map(({ body }) => body),
  );
  for (const other of ['/v1/pets/8', '/v1/pets/77', '/v1/pets/1000000001'])
    assert.equal(ready.find(other), null);
});

test('finds what was kept where the store is read anew and holds the same', () => {
  const { world, ready } = createWorld();
  ready.keep('/added', answer, { until: 'added' }, world.stamp);
  ready.keep('/edited', answer, { until: 'edited' }, world.stamp);
  world.stamp = { newestId: 5n, edits: 0n };
  assert.deepEqual([ready.find('/added'), ready.find('/edited')], [answer, answer]);
});

test('finds nothing that was kept before an edit', () => {
  const { world, ready } = createWorld();
  ready.keep('/added', answer, { until: 'added' }, world.stamp);
  ready.keep('/edited', answer, { until: 'edited' }, world.stamp);
  world.stamp = { newestId: 5n, edits: 1n };
  assert.deepEqual([ready.find('/added'), ready.find('/edited')], [null, null]);
});

test('finds only what begins at an id once an animal was added', () => {
  const { world, ready } = createWorld();
  ready.keep('/added', answer, { until: 'added' }, world.stamp);
  ready.keep('/edited', answer, { until: 'edited' }, world.stamp);
  world.stamp = { newestId: 6n, edits: 0n };
  assert.deepEqual([ready.find('/added'), ready.find('/edited')], [null, answer]);
});

test('finds nothing from its end on', () => {
  const { world, ready } = createWorld();
  ready.keep('/a', answer, { until: 'edited', endsAtMs: 1_500 }, world.stamp);
  world.nowMs = 1_499;
  assert.equal(ready.find('/a'), answer);
  world.nowMs = 1_500;
  assert.equal(ready.find('/a'), null);
});

test('keeps and finds nothing where the store cannot tell what it holds', () => {
  const { world, ready } = createWorld();
  ready.keep('/a', answer, { until: 'edited' }, null);
  assert.equal(ready.find('/a'), null);
  ready.keep('/b', answer, { until: 'edited' }, world.stamp);
  world.stamp = null;
  assert.equal(ready.find('/b'), null);
});

for (const [what, path] of [
  ['an animal', '/v1/pets/1'],
  ['another address', '/'],
] as const) {
  test(`holds no more than its bound, and keeps ${what} that is asked for again`, () => {
    const { world, ready } = createWorld({ bytesMax: 100_000 });
    const wanted = `${path}20000`;
    ready.keep(wanted, answer, { until: 'edited' }, world.stamp);
    for (let number = 0; number < 10_000; number += 1) {
      ready.keep(`${path}${number}`, answer, { until: 'edited' }, world.stamp);
      assert.equal(ready.find(wanted), answer);
    }
    const kept = Array.from({ length: 10_000 }, (_, number) => ready.find(`${path}${number}`)).filter(
      Boolean,
    );
    assert.ok(kept.length > 10 && kept.length < 100_000 / (2 * answer.body.length + 400), `${kept.length}`);
  });

  test(`${what} that is kept again and again takes the room of one`, () => {
    const { world, ready } = createWorld({ bytesMax: 100_000 });
    ready.keep('/first', answer, { until: 'edited' }, world.stamp);
    for (let number = 0; number < 10_000; number += 1)
      ready.keep(`${path}1`, answer, { until: 'edited' }, world.stamp);
    assert.equal(ready.find('/first'), answer);
  });
}

test('a long link is counted', () => {
  const { world, ready } = createWorld({ bytesMax: 100_000 });
  const linked = makeAnswer('[]', toLines({ link: `<${'x'.repeat(10_000)}>; rel="next"` }));
  for (let number = 0; number < 100; number += 1)
    ready.keep(`/${number}`, linked, { until: 'edited' }, world.stamp);
  const kept = Array.from({ length: 100 }, (_, number) => ready.find(`/${number}`)).filter(Boolean);
  assert.ok(kept.length > 1 && kept.length <= 100_000 / 10_000, `${kept.length}`);
});

for (const [what, path, text] of [
  ['animals', '/v1/pets/', '{}'],
  ['animals with long ids', '/v1/pets/1000000000', '{}'],
  ['pages', '/v1/pets?cursor=', '[]'],
  ['pages in a wide script', '/v1/pets?cursor=', JSON.stringify('犬'.repeat(100))],
] as const) {
  test(`what ${what} hold of the heap stays within its bound, each of another state of the store`, async () => {
    const bytesMax = 16 * 2 ** 20;
    const workerData: ReadyHeapWork = { path, text, bytesMax };
    const worker = new Worker(join(import.meta.dirname, 'ready-heap.ts'), { workerData });
    const [most] = (await once(worker, 'message')) as [number];
    assert.ok(most <= bytesMax, `${most}`);
    assert.ok(most > bytesMax / 2, `${most}`);
  });
}
