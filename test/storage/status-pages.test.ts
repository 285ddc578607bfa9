import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { type NewPet, type PetStatus, petStatuses } from '../../src/pets/pet.ts';
import { selectNewestOf } from '../../src/pets/pet-pages.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { openSqlite } from '../../src/storage/sqlite/database.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { findPostgres, type Store, sqliteEngine } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();
const animals = 20_000;

/** Distributions of statuses. Each returns the status of the animal at an index, counted from the oldest. */
const histories: Readonly<Record<string, (index: number) => PetStatus>> = {
  'all animals are available': () => 'available',
  'the three statuses are evenly mixed': (index) => petStatuses[index % 3] ?? 'sold',
  'one in a thousand animals is sold': (index) => (index % 1_000 === 0 ? 'sold' : 'available'),
  'exactly the older half of the animals is sold': (index) => (index < animals / 2 ? 'sold' : 'available'),
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

  function explain(file: DatabaseSync, status: PetStatus): readonly unknown[] {
    const { sql } = compileStatement(selectNewestOf[status], 'sqlite');
    const steps = file.prepare(`explain query plan ${sql}`).all();
    return steps.map(({ detail }) => detail);
  }

  const alongIndex = ['SEARCH pets USING INDEX pets_by_status (status=? AND id<?)'];
  /** The plan without the index. SQLite uses it if the statistics show that all animals have the same status. */
  const alongIds = ['SEARCH pets USING INTEGER PRIMARY KEY (rowid<?)'];

  /** Creates the index of an older store, in which the order of the statuses is reversed. */
  const olderIndex = 'drop index pets_by_status; create index pets_by_status on pets (status, id)';

  for (const [history, statusOf] of Object.entries(histories))
    for (const [age, change] of [
      ['', ''],
      [', in an older store', olderIndex],
    ] as const)
      test(`uses the index if ${history}${age}`, async (t) => {
        const file = await createFile(t);
        file.exec(change);
        const add = file.prepare("insert into pets (name, category_id, status) values ('Rex', 1, ?)");
        file.exec('begin');
        for (let index = 0; index < animals; index += 1) add.run(statusOf(index));
        file.exec('commit');
        for (const status of petStatuses) assert.deepEqual(explain(file, status), alongIndex);
        file.exec('analyze');
        const expected = history === 'all animals are available' ? alongIds : alongIndex;
        for (const status of petStatuses) assert.deepEqual(explain(file, status), expected);
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

  async function expectOwnIndexes({ url }: Store, plans: string): Promise<void> {
    const client = new Client(url);
    await client.connect();
    try {
      await client.query(`set plan_cache_mode = ${plans}`);
      for (const status of petStatuses)
        assert.match(
          await explain(client, status),
          new RegExp(`Index Scan.* using pets_${status}_by_id on pets`),
        );
    } finally {
      await client.end();
    }
  }

  for (const [history, statusOf] of Object.entries(histories))
    for (const plans of ['force_generic_plan', 'force_custom_plan'])
      test(`uses its own index if ${history} (${plans})`, async (t) => {
        const store = await postgres.createStore(t);
        await openCatalogue(await store.open()).load(makeAnimals(statusOf));
        await store.execute('analyze pets');
        await expectOwnIndexes(store, plans);
      });

  test('uses its own index even if the statistics are outdated', async (t) => {
    const store = await postgres.createStore(t);
    const catalogue = openCatalogue(await store.open());
    await catalogue.load(makeAnimals(() => 'sold'));
    await store.execute('analyze pets');
    await catalogue.load(makeAnimals(() => 'available'));
    await expectOwnIndexes(store, 'auto');
  });
});

for (const engine of [sqliteEngine, postgres])
  test(`${engine.name} itself refuses an unknown status`, { skip: engine.skip }, async (t) => {
    const store = await engine.createStore(t);
    await store.open();
    const add = (status: string) =>
      store.execute(
        `insert into pets (name, category_id, status, is_owned) values ('Rex', 1, '${status}', 0)`,
      );
    for (const status of petStatuses) await add(status);
    for (const status of ['Sold', '', 'gone', ' sold'])
      await assert.rejects(add(status), /check constraint/i, JSON.stringify(status));
  });
