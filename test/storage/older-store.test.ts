import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { commandActor } from '../../src/audit/audit-log.ts';
import { everything } from '../../src/events/event-reader.ts';
import { readFeed } from '../../src/events/feed.ts';
import { createFirstAnswers, hashIdempotencyKey } from '../../src/idempotency/answer-once.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { createInventory } from '../../src/inventory/inventory.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import type { PetStatus } from '../../src/pets/pet.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { writePet } from '../../src/pets/pet-values.ts';
import { newestSchema } from '../../src/storage/migrations/migrate.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { claimMigrating, claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import { restoreSqlite } from '../../src/storage/sqlite/restore.ts';
import { petValues } from '../support/catalogue.ts';
import { type Engine, findPostgres, type Store, sqliteEngine } from '../support/engines.ts';
import { migrateAsBefore, migrationsOf110 } from '../support/older-schema.ts';

const nowMs = 1_800_000_000_000;
const bodyHash = hash('sha256', 'body', 'buffer');

/** Animals whose names and numbers are hard to represent. Each was added with its own idempotency key. */
const pets: readonly { readonly name: string; readonly categoryId: bigint; readonly status: PetStatus }[] = [
  { name: 'Rex', categoryId: 1n, status: 'available' },
  { name: 'a"b\\c/d <é🐈> \u2028\u2029\u0085\u00a0\ufeff\ufffd\u{10ffff}', categoryId: 1n, status: 'sold' },
  { name: '\u200b'.repeat(200), categoryId: int64Min, status: 'pending' },
  { name: '~', categoryId: 2n ** 53n + 1n, status: 'available' },
  { name: '!', categoryId: int64Max, status: 'sold' },
];
/** What a command says that may not migrate a store. */
const refusal =
  /^the store .* has the schema of an older release, 0001-first: "serve", "import" and "migrate" update it$/;
const firstMigration = migrationsOf110.slice(0, 1);
const keyOf = (at: number) => `key-${at}-~!"%'`;
const manyKeys = 2_500;

const text = (value: string | Uint8Array, engine: Engine) =>
  typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : `${engine === sqliteEngine ? "x'" : "'\\x"}${Buffer.from(value).toString('hex')}'`;

/** Creates a store as the first release does: its schema, an account, animals and their idempotency records. */
async function makeFirstStore(t: TestContext, engine: Engine): Promise<Store> {
  const store = await engine.createEmptyStore(t);
  await migrateAsBefore(store, firstMigration);
  const lines = pets.map(
    ({ name, categoryId, status }) =>
      `(${text(name, engine)}, ${categoryId === int64Min ? `${int64Min + 1n} - 1` : categoryId}, '${status}')`,
  );
  await store.execute(`insert into accounts (name, plan, created_at_ms) values ('a', 'free', 0)`);
  await store.execute(`insert into pets (name, category_id, status) values ${lines}`);
  const record = (key: string, petId: number) =>
    `(1, ${text(key, engine)}, ${text(bodyHash, engine)}, ${petId}, ${nowMs})`;
  const records = [
    ...pets.map((_, at) => record(keyOf(at), at + 1)),
    ...Array.from({ length: manyKeys }, (_, at) => record(`many-${at}`, 1)),
  ];
  await store.execute(
    `insert into idempotency_records (account_id, key, body_hash, pet_id, created_at_ms) values ${records}`,
  );
  return store;
}

const postgres = await findPostgres();

const pathOf = (url: string) => url.replace('sqlite:', '');

for (const engine of [sqliteEngine, postgres])
  describe(`a store of the first release on ${engine.name}`, { skip: engine.skip }, () => {
    test('returns the first answer to each old Idempotency-Key byte for byte without adding anything', async (t) => {
      const store = await makeFirstStore(t, engine);
      const database = await store.open();
      const catalogue = createCatalogue(database, createFirstAnswers(database));
      const add = (key: string, at: number) => {
        const keyHash = hashIdempotencyKey(1n, key);
        const idempotency = { accountId: 1n, keyHash, operation: 'createPet', bodyHash };
        return catalogue.addOnce({ name: 'Other', categoryId: 9n }, idempotency, '/other/').then((given) => {
          const pet = pets[at];
          assert.ok(pet);
          const body = writePet({ id: BigInt(at + 1), ...pet });
          const answer = { status: 201, location: `/pets/${at + 1}`, body };
          assert.deepEqual(given, { answer, isReplayed: true });
        });
      };
      for (const at of pets.keys()) await add(keyOf(at), at);
      for (const at of [0, 999, 1_000, manyKeys - 1]) await add(`many-${at}`, 0);
      assert.equal((await store.execute('select id from pets')).length, pets.length);
      assert.equal((await store.execute('select 1 from first_answers')).length, pets.length + manyKeys);
    });

    test('counts its animals', async (t) => {
      const count = createInventory(await (await makeFirstStore(t, engine)).open());
      for (const categoryId of [null, ...pets.map((pet) => pet.categoryId)]) {
        const { asOfMs: _, ...counts } = await count(categoryId);
        const counted = pets.filter((pet) => categoryId === null || pet.categoryId === categoryId);
        const of = (status: PetStatus) => BigInt(counted.filter((pet) => pet.status === status).length);
        assert.deepEqual(counts, { available: of('available'), pending: of('pending'), sold: of('sold') });
      }
    });

    test('stays as it is when it is opened by a command that may not migrate it', async (t) => {
      const store = await makeFirstStore(t, engine);
      await assert.rejects(openDatabase(store.url, undefined, false), {
        name: 'OperatorError',
        message: refusal,
      });
      assert.equal((await store.execute('select name from schema_migrations')).length, 1);
    });
  });

describe('a SQLite store of an older release', () => {
  const refusal = {
    name: 'OperatorError',
    message:
      /^the database .*store\.db has the schema of an older release, and a service or another migration uses it: stop that service, or run this command again after the migration$/,
  };

  test('is neither migrated nor served while another process serves or migrates it', async (t) => {
    const { url, open } = await makeFirstStore(t, sqliteEngine);
    const path = pathOf(url);
    const endClaim = await claimMigrating(path);
    const other = new DatabaseSync(path);
    t.after(() => other.close());
    other.exec('pragma journal_mode = wal; begin; select 1 from sqlite_schema; commit');
    await assert.rejects(open(), refusal);
    await assert.rejects(
      claimServing(url),
      /^OperatorError: another service is serving .*store\.db, or a command migrates or restores it: /,
    );
    endClaim();
    await open();
  });

  test('is migrated by the process that serves it', async (t) => {
    const { url, open } = await makeFirstStore(t, sqliteEngine);
    t.after(await claimServing(url));
    await open();
  });

  test('keeps its copy if two migrations run at once', async (t) => {
    const { url, open } = await makeFirstStore(t, sqliteEngine);
    // The second one is refused if the first one takes too long.
    await Promise.allSettled([open(), open()]);
    const copy = new DatabaseSync(`${pathOf(url)}.before-${newestSchema.at(-1)}`);
    t.after(() => copy.close());
    assert.equal(copy.prepare('select name from schema_migrations').all().length, 1);
  });
});

test('an instance of release 1.0.0 on PostgreSQL writes no animal but gets "cannot connect now" (57P03)', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const insert = "insert into pets (name, category_id, status) values ('Rex', 1, 'available') returning id";
  await assert.rejects(store.execute(insert), { code: '57P03' });
  for (const table of ['pets', 'event_outbox'])
    assert.deepEqual(await store.execute(`select * from ${table}`), []);
});

test('a restored backup of the first release skips the ids and positions that were lost after it', async (t) => {
  const [backup, store] = [await sqliteEngine.createEmptyStore(t), await sqliteEngine.createStore(t)];
  await migrateAsBefore(backup, firstMigration);
  const pet = petValues({ name: 'Rex', categoryId: 1n, status: 'available' });
  const former = await store.open();
  for (let count = 0; count < 3; count += 1) await former.run(insertPet, pet);
  await former.close();
  await restoreSqlite(pathOf(store.url), pathOf(backup.url), { actor: commandActor(), nowMs: Date.now() });

  const database = await store.open();
  const expectLost = () =>
    assert.rejects(readFeed(database, { start: 3n, limit: 1 }, everything), { code: 'events_expired' });
  await expectLost();
  assert.equal((await database.run(insertPet, pet))[0]?.id, 4n);
  await expectLost();
});
