import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { calmMs, createStoreWatch, repeatAfterMs } from '../../src/observability/store-watch.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { insertWindow, selectSubjects } from '../contracts/window-rows.ts';
import { addAndThrow, doNothing } from '../contracts/works.ts';
import { testThread } from '../support/engines.ts';
import { recordLog } from '../support/recorded-log.ts';
import { createMovableClock, makeFolder, startService } from '../support/service.ts';

/** Opens a watched store that a test can move away and bring back, and records its log lines. */
async function openWatched(t: TestContext) {
  const folder = join(await makeFolder(t), 'data');
  const { log, findLines } = recordLog();
  const clock = createMovableClock();
  const registry = new Registry();
  const watch = createStoreWatch(registry, log, clock.now, clock.now);
  const database = watch.wrap(await openDatabase(`sqlite:${join(folder, 'store.db')}`, testThread));
  t.after(() => database.close());
  let subject = 0;
  return {
    database,
    watch,
    clock,
    show: () => registry.metrics(),
    takeAway: () => rename(folder, `${folder}-elsewhere`),
    bringBack: () => rename(`${folder}-elsewhere`, folder),
    add: () => database.run(insertWindow, { subject: String(subject++), used: 1n }),
    findLines,
    readMessages: () => findLines().map(({ msg }) => String(msg)),
  };
}

type Watched = Awaited<ReturnType<typeof openWatched>>;

async function failToAdd({ add }: Watched, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await assert.rejects(add(), { code: 'unavailable' });
}

test('a fault is logged without a stack at its beginning, after ten seconds and at its end', async (t) => {
  const watched = await openWatched(t);
  await watched.takeAway();
  await failToAdd(watched, 100);
  const [begun = '', ...more] = watched.readMessages();
  assert.match(begun, /^the store cannot be written: .*is not the file that was opened/);
  assert.ok(!JSON.stringify(watched.findLines()).includes('stack'));
  assert.deepEqual(more, []);
  watched.clock.advance(repeatAfterMs);
  await failToAdd(watched, 1);
  await watched.bringBack();
  await watched.add();
  assert.equal(watched.watch.listNotes().length, 1);
  watched.clock.advance(calmMs);
  await watched.add();
  assert.deepEqual(watched.watch.listNotes(), []);
  const failures = watched.findLines().map((line) => line['failures']);
  assert.deepEqual(failures, [1, 101, 101]);
  assert.equal(watched.readMessages().at(-1), 'the store can be written again');
});

test('faults of reads and faults of writes are logged separately', async (t) => {
  const watched = await openWatched(t);
  await watched.takeAway();
  await failToAdd(watched, 1);
  watched.clock.advance(calmMs);
  await watched.database.read(selectSubjects, {});
  const [note, ...more] = watched.watch.listNotes();
  assert.match(note ?? '', /^the store cannot be written since 2027-01-02T12:00:00\.000Z: /);
  assert.deepEqual(more, []);
});

/** Fails once to read from a closed store of the same watch. */
async function failToReadNow(t: TestContext, { watch }: Watched): Promise<void> {
  const closed = await openDatabase(`sqlite:${join(await makeFolder(t), 'store.db')}`, testThread);
  await closed.close();
  assert.throws(() => watch.wrap(closed).readNow?.(selectSubjects, {}), { code: 'unavailable' });
}

test('a fault of readNow and its end are logged', async (t) => {
  const watched = await openWatched(t);
  await failToReadNow(t, watched);
  assert.match(watched.watch.listNotes()[0] ?? '', /^the store cannot be read since /);
  watched.clock.advance(calmMs);
  assert.deepEqual(watched.database.readNow?.(selectSubjects, {}), []);
  const [begun = '', ...more] = watched.readMessages();
  assert.match(begun, /^the store cannot be read: /);
  assert.deepEqual(more, ['the store can be read again']);
  assert.match(await watched.show(), /store_failures_total\{call="read"\} 1$/m);
});

test('the duration of readNow is not measured', async (t) => {
  const watched = await openWatched(t);
  await failToReadNow(t, watched);
  assert.deepEqual(watched.database.readNow?.(selectSubjects, {}), []);
  assert.match(await watched.show(), /store_duration_seconds_count\{call="read"\} 0$/m);
});

test('the metrics measure reads and writes of the store without transactions that give up', async (t) => {
  const watched = await openWatched(t);
  await watched.database.read(selectSubjects, {});
  await watched.add();
  await watched.database.transact(doNothing, null);
  const givesUp = { subject: 'a', used: 1n, name: 'Error', message: 'no' } as const;
  await assert.rejects(watched.database.transact(addAndThrow, givesUp), /no/);
  assert.deepEqual([watched.findLines(), watched.watch.listNotes()], [[], []]);
  await watched.takeAway();
  await failToAdd(watched, 1);
  const shown = await watched.show();
  assert.match(shown, /store_duration_seconds_count\{call="read"\} 1$/m);
  assert.match(shown, /store_duration_seconds_count\{call="write"\} 4$/m);
  assert.match(shown, /store_failures_total\{call="read"\} 0$/m);
  assert.match(shown, /store_failures_total\{call="write"\} 1$/m);
});

test('a service whose store cannot be written', async (t) => {
  const service = await startService(t, { LOG_REQUESTS: 'errors' });
  const folder = dirname(service.config.databaseUrl.replace('sqlite:', ''));
  const key = await service.createKey();
  await rename(folder, `${folder}-elsewhere`);
  try {
    await service.request(key, '/nothing');
    for (let sent = 0; sent < 3; sent += 1)
      assert.equal((await service.post(key, { name: 'Rex', categoryId: 1 })).status, 503);

    await t.test('is ready with a note', async () => {
      const readiness = await fetch(`${service.app.opsUrl}/readyz`);
      assert.equal(readiness.status, 200);
      assert.match(await readiness.text(), /"notes":\["the store cannot be written since /);
    });

    await t.test('logs one line for each failed request', () => {
      assert.equal(service.findLines('"status":503').length, 3);
      assert.equal(service.findLines('"status":').length, 3);
      assert.doesNotMatch(service.readLog(), /"stack"/);
    });
  } finally {
    await rename(`${folder}-elsewhere`, folder);
  }
});
