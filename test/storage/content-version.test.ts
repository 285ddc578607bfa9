import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { expireEvents } from '../../src/events/expire-events.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { createVersion } from '../../src/storage/content-version.ts';
import { importPets, petValues } from '../support/catalogue.ts';
import { describeOnEngines, type Engine, findPostgres, openStore, sqliteEngine } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';

const postgres = await findPostgres();
const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const insert = "insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'available', 0)";

async function prepare(t: TestContext, engine: Engine) {
  const { store, database } = await openStore(t, engine);
  return { store, database, version: createVersion(database) };
}

await describeOnEngines('the version of a store', (engine) => {
  test('changes exactly when any program changes an animal', async (t) => {
    const { store, database, version } = await prepare(t, engine);
    const seen = new Set([await version.read()]);
    for (const change of [
      () => store.execute(insert),
      () => store.execute("update pets set name = 'Max'"),
      () => store.execute('delete from pets'),
      () => importPets(database, [rex]),
    ]) {
      await change();
      const changed = await version.read();
      assert.equal(await version.read(), changed);
      seen.add(changed);
    }
    assert.equal(seen.size, 5);
    assert.ok(!seen.has(null));
  });

  test('never comes again when events expire', async (t) => {
    const { store, database, version } = await prepare(t, engine);
    const seen = [await version.read()];
    const acts = [
      () => store.execute(insert),
      () => sequenceEvents(database),
      () => store.execute('update events set at_ms = 0'),
      () => expireEvents(database),
    ];
    for (const act of [...acts, ...acts, ...acts]) {
      await act();
      seen.push(await version.read());
    }
    const changes = seen.filter((one, index) => one !== seen[index - 1]);
    assert.equal(new Set(seen).size, changes.length);
  });
});

describe('the version of a store in SQLite', () => {
  async function countReads(t: TestContext) {
    const { database } = await prepare(t, sqliteEngine);
    let reads = 0;
    const version = createVersion({
      ...database,
      readNow: (...call) => {
        reads += 1;
        return database.readNow?.(...call) ?? [];
      },
    });
    return { version, database, countReads: () => reads };
  }

  test('is read at each call', async (t) => {
    const { version, countReads: count } = await countReads(t);
    version.read();
    version.read();
    assert.equal(count(), 2);
  });

  test('is read once for all that share it', async (t) => {
    const { version, countReads: count } = await countReads(t);
    version.share(() => assert.equal(version.read(), version.read()));
    assert.equal(count(), 1);
  });

  test('is read again after those that share it', async (t) => {
    const { version, database } = await countReads(t);
    let before: unknown;
    version.share(() => {
      before = version.read();
    });
    await database.run(insertPet, petValues(rex));
    assert.notEqual(version.read(), before);
  });
});

describe('the version of a store in PostgreSQL', { skip: postgres.skip }, () => {
  test('changes when a transaction commits that was open during earlier reads', async (t) => {
    const { store, database, version } = await prepare(t, postgres);
    const slow = await connectPostgres(t, store.url);
    await slow.query('begin');
    await slow.query(insert);
    await database.run(insertPet, petValues(rex));
    await sequenceEvents(database);
    const before = await version.read();
    await slow.query('commit');
    assert.notEqual(await version.read(), before);
  });

  test('is unknown while a thousand events have no position', async (t) => {
    const { store, database, version } = await prepare(t, postgres);
    await store.execute(
      `${insert.replace(/values.*/, '')} select 'Rex', 1, 'available', 0 from generate_series(1, 1000)`,
    );
    assert.equal(await version.read(), null);
    await sequenceEvents(database);
    assert.notEqual(await version.read(), null);
  });

  test('is read only once more for all requests that come during a read', async (t) => {
    const { database } = await prepare(t, postgres);
    const { promise, resolve } = Promise.withResolvers<void>();
    let reads = 0;
    const version = createVersion({
      ...database,
      async read(...call) {
        reads += 1;
        const rows = await database.read(...call);
        await promise;
        return rows;
      },
    });
    const first = Array.from({ length: 50 }, () => version.read());
    while (reads === 0) await new Promise((go) => setImmediate(go));
    const later = Array.from({ length: 50 }, () => version.read());
    resolve();
    await Promise.all([...first, ...later]);
    assert.equal(reads, 2);
  });

  test('can be read again after the store has failed', async (t) => {
    const { database } = await prepare(t, postgres);
    let isFailing = true;
    const version = createVersion({
      ...database,
      read: (...call) => (isFailing ? Promise.reject(new Error('the store fails')) : database.read(...call)),
    });
    await assert.rejects(async () => version.read(), /the store fails/);
    isFailing = false;
    assert.equal(typeof (await version.read()), 'string');
  });
});
