import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { everything } from '../../src/events/event-reader.ts';
import { readFeed } from '../../src/events/feed.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import type { Database } from '../../src/storage/database.ts';
import { petValues } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { testsUnless } from '../support/programs.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

async function openStore(t: TestContext) {
  const store = await postgres.createStore(t);
  const database = await store.open();
  const add = async (name = 'Rex') =>
    (await database.run(insertPet, petValues({ name })))[0]?.id ?? assert.fail();
  /** Returns the names of the animals in the events after a position, and the next position. */
  async function read(start: bigint | 'oldest') {
    const { events, next } = await readFeed(database, { start, limit: 100 }, everything);
    return { names: events.map(({ data }) => JSON.parse(data).name as string), next };
  }
  return { store, database, sequence: () => sequenceEvents(database), add, read };
}

test('an open transaction delays no events but its own', async (t) => {
  const { store, sequence, add, read } = await openStore(t);
  const slow = await connectPostgres(t, store.url);
  const insert = `insert into pets (name, category_id, status, is_owned) values ('slow', 1, 'sold', 0)`;
  await slow.query(`begin; ${insert}`);
  await add('quick');
  await sequence();
  const first = await read('oldest');
  assert.deepEqual(first.names, ['quick']);
  await slow.query('commit');
  await sequence();
  assert.deepEqual((await read(first.next)).names, ['slow']);
});

test('the changes of an animal stay in order if the first is committed between two batches', async (t) => {
  const { store, database, sequence, add, read } = await openStore(t);
  const id = await add();
  await sequence();
  const slow = await connectPostgres(t, store.url);
  await slow.query(`begin; update pets set name = 'first' where id = ${id}`);
  await add('other');
  let isCommitted = false;
  const run: Database['run'] = async (...batch) => {
    const taken = await database.run(...batch);
    if (!isCommitted) await slow.query('commit');
    if (!isCommitted) await slow.query(`update pets set name = 'second' where id = ${id}`);
    isCommitted = true;
    return taken;
  };
  await sequenceEvents({ ...database, run }, undefined, 1);
  await sequence();
  assert.deepEqual((await read('oldest')).names, ['Rex', 'other', 'first', 'second']);
});

/** A process that assigns positions without a pause, and prints a line after each time. */
const sequencer = (url: string) => `
  import { sequenceEvents } from '${import.meta.resolve('../../src/events/sequence-events.ts')}';
  import { openDatabase } from '${import.meta.resolve('../../src/storage/open-database.ts')}';
  const database = await openDatabase(${JSON.stringify(url)});
  for (;;) {
    await sequenceEvents(database);
    console.log('done');
  }`;

test('an instance that is stopped while it assigns positions holds up no events', async (t) => {
  const { store, sequence, add, read } = await openStore(t);
  const child = spawn(process.execPath, ['--input-type=module', '-e', sequencer(store.url)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let next: bigint | 'oldest' = 'oldest';
  for (let stops = 0; stops < 10; stops += 1) {
    await once(child.stdout, 'data');
    const adds = Array.from({ length: 10 }, () => add('before'));
    child.kill('SIGSTOP');
    await add(`while stopped ${stops}`);
    const names: string[] = [];
    while (!names.includes(`while stopped ${stops}`)) {
      await sequence();
      const page = await read(next);
      names.push(...page.names);
      next = page.next;
    }
    child.kill('SIGCONT');
    await Promise.all(adds);
  }
  child.kill('SIGKILL');
});

test('the lag of the feed is noted even if no position can be assigned', async (t) => {
  const { store, database, sequence, add } = await openStore(t);
  const lags: number[] = [];
  const noteLag = (ms: number) => void lags.push(ms);
  await add();
  await store.execute('update event_outbox set at_ms = at_ms - 60000');
  await store.execute('alter table events rename to other_events');
  await assert.rejects(sequenceEvents(database, noteLag));
  await store.execute('alter table other_events rename to events');
  await sequence();
  await sequenceEvents(database, noteLag);
  assert.equal(lags.length, 2);
  assert.ok((lags[0] ?? 0) >= 60_000);
  assert.equal(lags[1], 0);
});

test('a reader of several instances gets the changes of each animal once, in their order', async (t) => {
  const { store, add, read } = await openStore(t);
  const ids: bigint[] = [];
  for (let count = 0; count < 4; count += 1) ids.push(await add());
  const changes = 40;
  let isWriting = true;

  async function write(id: bigint): Promise<void> {
    const client = await connectPostgres(t, store.url);
    for (let change = 1; change <= changes; change += 1)
      await client.query(`update pets set name = '${id}:${change}' where id = ${id}`);
  }
  async function sequence(): Promise<void> {
    const instance = await store.open();
    while (isWriting) await sequenceEvents(instance, undefined, 3);
  }
  const met: string[] = [];
  async function follow(): Promise<void> {
    for (let start: bigint | 'oldest' = 'oldest'; met.length < ids.length * (changes + 1); ) {
      const page = await read(start);
      met.push(...page.names);
      start = page.next;
    }
    isWriting = false;
  }

  await Promise.all([...ids.map(write), sequence(), sequence(), sequence(), follow()]);
  assert.equal(met.length, ids.length * (changes + 1));
  for (const id of ids) {
    const own = met.filter((name) => name.startsWith(`${id}:`));
    const made = Array.from({ length: changes }, (_, index) => `${id}:${index + 1}`);
    assert.deepEqual(own, made);
  }
});
