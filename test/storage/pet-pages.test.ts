import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { type NewPet, type PetStatus, petStatuses } from '../../src/pets/pet.ts';
import { selectPage } from '../../src/pets/pet-pages.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { openSqlite } from '../../src/storage/sqlite/database.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { findPostgres, type Store } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();
const animals = 10_000;

type Kind = readonly [categoryId: number, status: PetStatus];

/** Distributions of categories and statuses. Each returns those of the animal at an index, counted from the oldest. */
const histories: Readonly<Record<string, (index: number) => Kind>> = {
  'all animals are available and in one category': () => [1, 'available'],
  'ten categories are evenly mixed': (index) => [1 + (index % 10), petStatuses[index % 3] ?? 'sold'],
  'the animals of one category are all old': (index) => [
    index < 500 ? 1 : 2,
    petStatuses[index % 2] ?? 'sold',
  ],
  'all sold animals of one category are old': (index) => [1, index < 500 ? 'sold' : 'available'],
  'each animal has a different category': (index) => [index, 'pending'],
};

/** A page of three animals with a status and a category. */
const selectNamed = selectPage({ status: 'sold', categoryId: 1n, ids: [1n, 2n, 3n] });

const byCategory = {
  sqliteSearch: 'pets_by_category_and_status (category_id=? AND status=? AND id<?)',
  keyOf: (kind: Kind) => kind.join(),
};

/** The statements with the index that each status uses on each engine. `keyOf` returns the key in SQLite's index. */
const statements = [
  ...petStatuses.map((status) => ({
    name: status,
    statement: selectPage({ status }),
    sqliteSearch: 'pets_by_status (status=? AND id<?)',
    keyOf: ([, ofAnimal]: Kind) => String(ofAnimal),
    postgresIndexes: [`pets_${status}_by_id`],
  })),
  ...petStatuses.map((status) => ({
    name: `a category and ${status}`,
    statement: selectPage({ status, categoryId: 1n }),
    ...byCategory,
    postgresIndexes: [`pets_${status}_by_category`],
  })),
  {
    name: 'a category',
    statement: selectPage({ status: null, categoryId: 1n }),
    ...byCategory,
    postgresIndexes: petStatuses.map((status) => `pets_${status}_by_category`),
  },
];

describe('a page of a status, a category or both in SQLite', () => {
  /** The plan without the index. SQLite uses it if the statistics show that all animals have the same index key. */
  const alongIds = 'SEARCH pets USING INTEGER PRIMARY KEY (rowid<?)';

  for (const [history, kindOf] of Object.entries(histories))
    test(`uses the index if ${history}`, async (t) => {
      const path = join(await makeFolder(t), 'store.db');
      await (await openSqlite(path)).close();
      const file = new DatabaseSync(path);
      t.after(() => file.close());
      const explain = (sql: string) =>
        file
          .prepare(`explain query plan ${sql}`)
          .all()
          .map(({ detail }) => String(detail))
          .filter((detail) => detail.includes('SEARCH pets') || detail.includes('SCAN pets'));
      const add = file.prepare("insert into pets (name, category_id, status) values ('Rex', ?, ?)");
      file.exec('begin');
      for (let index = 0; index < animals; index += 1) add.run(...kindOf(index));
      file.exec('commit');
      const kinds = Array.from({ length: animals }, (_, index) => kindOf(index));
      for (const analysed of [false, true]) {
        if (analysed) file.exec('analyze');
        for (const { name, statement, sqliteSearch, keyOf, postgresIndexes } of statements) {
          const isOneKey = new Set(kinds.map(keyOf)).size === 1;
          const expected = analysed && isOneKey ? alongIds : `SEARCH pets USING INDEX ${sqliteSearch}`;
          const { sql } = compileStatement(statement, 'sqlite');
          assert.deepEqual(explain(sql), Array(postgresIndexes.length).fill(expected), name);
        }
        const { sql } = compileStatement(selectNamed, 'sqlite');
        assert.deepEqual(explain(sql), ['SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)']);
      }
    });
});

describe('a page of a status, a category or both in PostgreSQL', { skip: postgres.skip }, () => {
  async function* makeAnimals(kindOf: (index: number) => Kind): AsyncGenerator<NewPet[]> {
    yield Array.from({ length: animals }, (_, index) => {
      const [categoryId, status] = kindOf(index);
      return { name: 'Rex', categoryId: BigInt(categoryId), status };
    });
  }

  /** Returns every scan of the animals in a query plan. */
  async function explain(client: Client, name: string, sql: string, values: string): Promise<string[]> {
    await client.query(`prepare "${name}" as ${sql}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute "${name}" (${values})`);
    const plan = rows.map((row) => row['QUERY PLAN']);
    return plan
      .filter((line) => / on pets/.test(line))
      .map((line) => line.replace(/^[ >-]*| on pets.*$/g, ''));
  }

  async function expectOwnIndexes({ url }: Store, plans: string): Promise<void> {
    const client = new Client(url);
    await client.connect();
    try {
      await client.query(`set plan_cache_mode = ${plans}`);
      for (const categoryId of [1, 2, 77])
        for (const { name, statement, postgresIndexes } of statements) {
          const { sql, names } = compileStatement(statement, 'postgres');
          const values = names.map((one) => ({ categoryId, newestId: animals, count: 21 })[one]).join();
          const scans = await explain(client, `${name} ${categoryId}`, sql, values);
          assert.deepEqual(
            scans,
            postgresIndexes.map((index) => `Index Scan Backward using ${index}`),
          );
        }
      const { sql, names } = compileStatement(selectNamed, 'postgres');
      const named = { ids: "'[1,2,3]'", newestId: animals, categoryId: 1, count: 21 };
      const values = names.map((one) => named[one as keyof typeof named]).join();
      assert.deepEqual(await explain(client, 'named', sql, values), ['Index Scan using pets_pkey']);
    } finally {
      await client.end();
    }
  }

  for (const [history, kindOf] of Object.entries(histories))
    test(`uses its own index if ${history}`, async (t) => {
      const store = await postgres.createStore(t);
      await openCatalogue(await store.open()).load(makeAnimals(kindOf));
      await store.execute('analyze pets');
      for (const plans of ['force_generic_plan', 'force_custom_plan']) await expectOwnIndexes(store, plans);
    });

  test('uses its own index even if the statistics are outdated', async (t) => {
    const store = await postgres.createStore(t);
    const catalogue = openCatalogue(await store.open());
    await catalogue.load(makeAnimals(() => [1, 'sold']));
    await store.execute('analyze pets');
    await catalogue.load(makeAnimals(() => [2, 'available']));
    for (const plans of ['force_generic_plan', 'force_custom_plan']) await expectOwnIndexes(store, plans);
  });
});
