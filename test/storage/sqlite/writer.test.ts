import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openReadingConnection } from '../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { toCall } from '../../../src/storage/sqlite/statements.ts';
import { createWriteQueue, waitingJobsMax, writeWaitMsMax } from '../../../src/storage/sqlite/write-queue.ts';
import { startWriter } from '../../../src/storage/sqlite/writer.ts';
import { insertWindow, selectSubjects, unavailable } from '../../contracts/window-rows.ts';
import { doNothing } from '../../contracts/works.ts';
import { testThread } from '../../support/engines.ts';
import { makeFolder } from '../../support/service.ts';

/** Starts a queue with a real worker thread. A test can delay its replies, as a hanging disk does. */
async function startQueue(t: TestContext) {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openSqlite(path, testThread);
  const thread = await startWriter(path, testThread);
  /** Number of jobs in each sent transaction. */
  const batches: number[] = [];
  let isHolding = false;
  const held: (() => void)[] = [];
  const queue = createWriteQueue({
    ...thread,
    async run(jobs) {
      batches.push(jobs.length);
      const outcomes = await thread.run(jobs);
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return outcomes;
    },
  });
  function release(): void {
    isHolding = false;
    for (const give of held.splice(0)) give();
  }
  t.after(async () => {
    release();
    await queue.close();
    await database.close();
  });
  const write = () => queue.add({ name: doNothing.name, input: null });
  const add = (subject: string) => queue.add(toCall(insertWindow, { subject, used: 1n }));
  /** Writes, and holds the reply. */
  async function hold(first: () => Promise<unknown>): Promise<Promise<unknown>[]> {
    isHolding = true;
    const running = [first()];
    while (held.length === 0) await nextTurn();
    return running;
  }
  const listSubjects = () => database.readNow?.(selectSubjects, {}).map(({ subject }) => subject);
  return { path, database, queue, write, add, listSubjects, batches, hold, release };
}

/** Mocks the clock and the timers. Returns a function that advances them. */
function stopClock(t: TestContext) {
  let nowMs = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  return (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
}

test('all writes of one turn of the event loop, or during another commit, share a commit', async (t) => {
  const { batches, write, hold, release } = await startQueue(t);
  const first = await hold(() => Promise.all([write(), write(), write()]));
  const others = Array.from({ length: 100 }, write);
  await nextTurn();
  assert.deepEqual(batches, [3]);
  release();
  await Promise.all([...first, ...others]);
  assert.deepEqual(batches, [3, 100]);
});

test('a write is withdrawn only if it does not begin in time', async (t) => {
  const { add, listSubjects, hold, release } = await startQueue(t);
  const advance = stopClock(t);
  const underWay = await hold(() => add('under way'));
  const late = assert.rejects(add('late'), unavailable);
  advance(writeWaitMsMax - 1_000);
  const inTime = add('in time');
  advance(1_000);
  await late;
  release();
  await Promise.all([...underWay, inTime]);
  assert.deepEqual(listSubjects(), ['in time', 'under way']);
});

test('writes fail as unavailable only while another process lets them wait too long', async (t) => {
  const { path, write, add, listSubjects } = await startQueue(t);
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const advance = stopClock(t);
  const refused = [write(), write()].map((work) => assert.rejects(work, unavailable));
  let isOver = false;
  async function passTime(): Promise<void> {
    for (; !isOver; advance(100)) await nextTurn();
  }
  const passing = passTime();
  await Promise.all(refused);
  other.close();
  await add('a');
  isOver = true;
  await passing;
  assert.deepEqual(listSubjects(), ['a']);
});

test('while another process holds the lock, all waiting writes try again together', async (t) => {
  const { path, batches, write } = await startQueue(t);
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const works = [write(), write(), write()];
  while (batches.length < 3) await nextTurn();
  assert.deepEqual(batches.slice(0, 3), [3, 3, 3]);
  other.close();
  await Promise.all(works);
});

test('a write beyond the bound of the queue is refused immediately', async (t) => {
  const { write, hold, release } = await startQueue(t);
  const underWay = await hold(write);
  const waiting = Array.from({ length: waitingJobsMax }, write);
  await assert.rejects(write(), unavailable);
  release();
  await Promise.all([...underWay, ...waiting]);
});

test('the reading connection leaves checkpoints to the writing connection', async (t) => {
  const { path, database, queue, add } = await startQueue(t);
  await add('a');
  await queue.close();
  const reading = openReadingConnection(path, 0);
  await database.close();
  assert.ok(existsSync(`${path}-wal`));
  reading.close();
  assert.ok(existsSync(`${path}-wal`));
});

test('a writer on the calling thread waits for the lock of another process, and writes', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openSqlite(path, {});
  t.after(() => database.close());
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  let isAdded = false;
  const added = database.run(insertWindow, { subject: 'late', used: 1n }).then(() => {
    isAdded = true;
  });
  for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  assert.equal(isAdded, false);
  other.exec('rollback');
  other.close();
  await added;
  assert.deepEqual(database.readNow?.(selectSubjects, {}), [{ subject: 'late' }]);
});

test('a store that was written on the calling thread leaves only its file', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openSqlite(path, { [doNothing.name]: doNothing });
  await database.run(insertWindow, { subject: 'one', used: 1n });
  await database.close();
  assert.deepEqual(await readdir(dirname(path)), ['store.db']);
});
