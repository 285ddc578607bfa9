import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { expireEvents } from '../../src/events/expire-events.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import type { PetSelection } from '../../src/pets/pet-selection.ts';
import { createStamps, type Stamp } from '../../src/pets/stamps.ts';
import type { Database } from '../../src/storage/database.ts';
import { findPostgres } from '../support/engines.ts';

const postgres = await findPostgres();
const all: PetSelection = { newestId: null, oldestId: null };
const insert = "insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'available', 0)";

/** Creates the stamps of a store with `count` animals, and a separate connection to the store. */
async function prepare(t: TestContext, count = 0) {
  const store = await postgres.createStore(t);
  const database = await store.open();
  const other = { query: store.execute };
  for (let added = 0; added < count; added += 1) await other.query(insert);
  const stamps = createStamps(database);
  await stamps.read();
  return { store, database, other, stamps };
}

/** Wraps a database, counts its reads and can delay their answers. */
function countReads(database: Database) {
  const seen = { reads: 0, hold: Promise.resolve() };
  const counted: Database = {
    ...database,
    async read(statement, parameters) {
      seen.reads += 1;
      const rows = await database.read(statement, parameters);
      await seen.hold;
      return rows;
    },
  };
  return { seen, counted };
}

describe('the stamps of a store in PostgreSQL', { skip: postgres.skip }, () => {
  test('are the same object until something is committed', async (t) => {
    const { other, stamps } = await prepare(t);
    const empty = await stamps.read();
    assert.equal(await stamps.read(), empty);
    assert.equal(stamps.latest(), empty);
    for (const sql of [insert, "update pets set name = 'Max'", 'delete from pets']) {
      const before = await stamps.read();
      await other.query(sql);
      const now = await stamps.read();
      assert.equal(stamps.isFresh(all, before, now), false);
      assert.equal(await stamps.read(), now);
    }
  });

  test('count each edit once, even if it is read before it has a position', async (t) => {
    const { database, other, stamps } = await prepare(t, 3);
    const numbers = [];
    for (const sequencesFirst of [true, false]) {
      await other.query("update pets set name = name || '!' where id = 1");
      if (sequencesFirst) await sequenceEvents(database);
      numbers.push((await stamps.read()).newestEdit);
      await sequenceEvents(database);
      numbers.push((await stamps.read()).newestEdit);
    }
    const [first = 0n] = numbers;
    assert.deepEqual(numbers, [first, first, first + 1n, first + 1n]);
  });

  test('include an animal whose transaction was open during earlier reads', async (t) => {
    const { store, database, stamps } = await prepare(t, 2);
    const slow = new Client({ connectionString: store.url });
    await slow.connect();
    await slow.query('begin');
    await slow.query(insert);
    await database.run(insertPet, { name: 'Rex', categoryId: 1n, status: 'available' });
    await sequenceEvents(database);
    const since = await stamps.read();
    await slow.query('commit');
    await slow.end();
    const now = await stamps.read();
    assert.equal(stamps.isFresh({ newestId: 4n, oldestId: 1n }, since, now), false);
    assert.equal(stamps.isFresh({ newestId: 2n, oldestId: 1n }, since, now), true);
  });

  test('make only answers stale that contain the edited animal before or after the edit', async (t) => {
    const { other, stamps } = await prepare(t, 9);
    const since = await stamps.read();
    await other.query("update pets set status = 'sold' where id = 5");
    const now = await stamps.read();
    const fresh = (selection: PetSelection) => stamps.isFresh(selection, since, now);
    assert.equal(fresh({ newestId: 5n, oldestId: 5n }), false);
    assert.equal(fresh(all), false);
    assert.equal(fresh({ newestId: 9n, oldestId: 1n, status: 'available' }), false);
    assert.equal(fresh({ newestId: 9n, oldestId: 1n, status: 'sold', categoryId: 1n }), false);
    assert.equal(fresh({ newestId: 9n, oldestId: 6n }), true);
    assert.equal(fresh({ newestId: 4n, oldestId: null }), true);
    assert.equal(fresh({ newestId: 9n, oldestId: 1n, status: 'pending' }), true);
    assert.equal(fresh({ newestId: 9n, oldestId: 1n, categoryId: 2n }), true);
  });

  test('make every answer stale after more edits than one read returns', async (t) => {
    const { other, stamps } = await prepare(t);
    await other.query(
      `${insert.replace(/values.*/, '')} select 'Rex', 1, 'available', 0 from generate_series(1, 999)`,
    );
    const first = await stamps.read();
    const unknown = { newestId: 9_000n, oldestId: 9_000n };
    await other.query("update pets set name = 'Max'");
    const second = await stamps.read();
    assert.equal(stamps.isFresh(unknown, first, second), true);
    await other.query(insert);
    await other.query("update pets set name = 'Tom'");
    assert.equal(stamps.isFresh(unknown, second, await stamps.read()), false);
  });

  test('make every answer stale if an edit since the last read has expired, and only then', async (t) => {
    const { database, other, stamps } = await prepare(t, 2);
    const since = await stamps.read();
    await other.query("update pets set name = 'Max' where id = 1");
    await sequenceEvents(database);
    await other.query('update events set at_ms = 0');
    await expireEvents(database);
    const unknown = { newestId: 9n, oldestId: 9n };
    const now = await stamps.read();
    assert.equal(stamps.isFresh({ newestId: 1n, oldestId: 1n }, since, now), false);
    assert.equal(stamps.isFresh(unknown, since, now), false);
    await other.query("update pets set name = 'Tom' where id = 2");
    assert.equal(stamps.isFresh(unknown, now, await stamps.read()), true);
  });

  test('cost one read for all requests of an event loop turn, and one more read for all requests that arrive meanwhile', async (t) => {
    const { database } = await prepare(t);
    const { seen, counted } = countReads(database);
    const { promise, resolve } = Promise.withResolvers<void>();
    seen.hold = promise;
    const stamps = createStamps(counted);
    const first = Array.from({ length: 50 }, () => stamps.read());
    while (seen.reads === 0) await new Promise((go) => setImmediate(go));
    const later = Array.from({ length: 50 }, () => stamps.read());
    resolve();
    await Promise.all([...first, ...later]);
    assert.equal(seen.reads, 2);
  });

  test('start again after a restart of the server', async (t) => {
    const { database } = await prepare(t);
    let startedAt = '1';
    const moved: Database = {
      ...database,
      read: async (statement, parameters) =>
        (await database.read(statement, parameters)).map((row) => ({ ...row, started_at: startedAt })),
    };
    const stamps = createStamps(moved);
    const nothing = { newestId: 1n, oldestId: 1n };
    const since: Stamp = await stamps.read();
    assert.equal(stamps.isFresh(nothing, since, await stamps.read()), true);
    startedAt = '2';
    assert.equal(stamps.isFresh(nothing, since, await stamps.read()), false);
  });

  test('fail with the store and recover with it', async (t) => {
    const { database } = await prepare(t);
    const state = { isFailing: true };
    const failing: Database = {
      ...database,
      read: (statement, parameters) =>
        state.isFailing ? Promise.reject(new Error('the store fails')) : database.read(statement, parameters),
    };
    const stamps = createStamps(failing);
    assert.equal(stamps.latest(), null);
    await assert.rejects(async () => stamps.read(), /the store fails/);
    state.isFailing = false;
    assert.equal(await stamps.read(), stamps.latest());
  });
});
