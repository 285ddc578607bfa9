import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { type NewPet, type PetStatus, petStatuses } from '../../src/pets/pet.ts';
import { selectNewestOf } from '../../src/pets/pet-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { findPostgres } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();
const animals = 20_000;

/** How the statuses of a catalogue may lie: the status of each animal, by its place from the oldest on. */
const histories: Readonly<Record<string, (index: number) => PetStatus>> = {
  'all are available': () => 'available',
  'the three lie evenly mixed': (index) => petStatuses[index % 3] ?? 'sold',
  'one in a thousand is sold': (index) => (index % 1_000 === 0 ? 'sold' : 'available'),
  'all of the older half are sold, none of the newer': (index) =>
    index < animals / 2 ? 'sold' : 'available',
};

async function* makeAnimals(statusOf: (index: number) => PetStatus): AsyncGenerator<NewPet[]> {
  yield Array.from({ length: animals }, (_, index) => ({
    name: 'Rex',
    categoryId: 1n,
    status: statusOf(index),
  }));
}

describe('a page of one status in SQLite', () => {
  async function createFile(t: TestContext): Promise<DatabaseSync> {
    const path = join(await makeFolder(t), 'store.db');
    await (await openSqlite(path)).close();
    const file = new DatabaseSync(path);
    t.after(() => file.close());
    return file;
  }

  for (const status of petStatuses)
    test(`is read along the index, where the status is ${status}`, async (t) => {
      const file = await createFile(t);
      const { sql } = compileStatement(selectNewestOf[status], 'sqlite');
      const steps = file.prepare(`explain query plan ${sql}`).all();
      const details = steps.map(({ detail }) => detail);
      assert.deepEqual(details, ['SEARCH pets USING INDEX pets_by_status (status=? AND id<?)']);
    });

  test('holds one of the three, whoever writes', async (t) => {
    const file = await createFile(t);
    const add = file.prepare("insert into pets (name, category_id, status) values ('Rex', 1, ?)");
    for (const status of petStatuses) add.run(status);
    for (const status of ['Sold', '', 'gone', ' sold'])
      assert.throws(() => add.run(status), /CHECK constraint failed/, JSON.stringify(status));
  });
});

describe('a page of one status in PostgreSQL', { skip: postgres.skip }, () => {
  async function explain(client: Client, status: PetStatus): Promise<string> {
    const { sql } = compileStatement(selectNewestOf[status], 'postgres');
    await client.query(`prepare page_${status} as ${sql}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain execute page_${status} (${animals}, 21)`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  for (const [history, statusOf] of Object.entries(histories))
    for (const plans of ['force_generic_plan', 'force_custom_plan'])
      test(`is read along its own index, where ${history} (${plans})`, async (t) => {
        const store = await postgres.createStore(t);
        await createCatalogue(await store.open(), Date.now).load(makeAnimals(statusOf));
        const client = new Client(store.url);
        await client.connect();
        try {
          await client.query('analyze pets');
          await client.query(`set plan_cache_mode = ${plans}`);
          for (const status of petStatuses)
            assert.match(
              await explain(client, status),
              new RegExp(`Index Scan.* using pets_${status} on pets`),
            );
        } finally {
          await client.end();
        }
      });
});
