import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { petStatuses } from '../../src/pets/pet.ts';
import { selectPage } from '../../src/pets/pet-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { findPostgres, type Store, sqliteEngine } from '../support/engines.ts';

const postgres = await findPostgres();
const animals = 10_000;

const available = "'available'";
const anyStatus = "case n % 3 when 0 then 'available' when 1 then 'pending' else 'sold' end";

/** Category and status of the animal number `n`, counted from the oldest. */
const histories: Readonly<Record<string, readonly [category: string, status: string]>> = {
  'all animals are available and in one category': ['1', available],
  'ten categories are evenly mixed': ['1 + n % 10', anyStatus],
  'the animals of one category are all old': ['case when n < 500 then 1 else 2 end', anyStatus],
  'all sold animals of one category are old': ['1', "case when n < 500 then 'sold' else 'available' end"],
  'each animal has a different category': ['n', "'pending'"],
};

/** SQL that adds `animals` animals, on any engine. */
const insertAnimals = (category: string, status: string) => `
  insert into pets (name, category_id, status, is_owned)
  with recursive numbers as (select 0 as n union all select n + 1 from numbers where n < ${animals - 1})
  select 'Rex', ${category}, ${status}, 0 from numbers`;

/** A page of three animals with a status and a category. */
const selectNamed = selectPage({ status: 'sold', categoryId: 1n, ids: '[1]' });

const byCategory = 'pets_by_category_and_status (category_id=? AND status=? AND id<?)';

/** The statements, with the index that each status uses on each engine. */
const statements = [
  ...petStatuses.map((status) => ({
    name: status,
    statement: selectPage({ status, categoryId: null, ids: null }),
    sqliteSearch: 'pets_by_status (status=? AND id<?)',
    postgresIndexes: [`pets_${status}_by_id`],
  })),
  ...petStatuses.map((status) => ({
    name: `a category and ${status}`,
    statement: selectPage({ status, categoryId: 1n, ids: null }),
    sqliteSearch: byCategory,
    postgresIndexes: [`pets_${status}_by_category`],
  })),
  {
    name: 'a category',
    statement: selectPage({ status: null, categoryId: 1n, ids: null }),
    sqliteSearch: byCategory,
    postgresIndexes: petStatuses.map((status) => `pets_${status}_by_category`),
  },
];

// Without statistics, SQLite chooses a plan by the statement alone, whatever the store has.
test('a page of a status, a category or both uses its own index in SQLite', async (t) => {
  const store = await sqliteEngine.createStore(t);
  const explain = async (statement: typeof selectNamed) => {
    const rows = await store.execute(`explain query plan ${compileStatement(statement, 'sqlite').sql}`);
    const details = rows.map((row) => (row as { detail: string }).detail);
    return details.filter((detail) => /(?:SEARCH|SCAN) pets/.test(detail));
  };
  for (const { name, statement, sqliteSearch, postgresIndexes } of statements) {
    const expected = `SEARCH pets USING INDEX ${sqliteSearch}`;
    assert.deepEqual(await explain(statement), Array(postgresIndexes.length).fill(expected), name);
  }
  assert.deepEqual(await explain(selectNamed), ['SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)']);
});

describe('a page of a status, a category or both in PostgreSQL', { skip: postgres.skip }, () => {
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

  for (const [history, [category, status]] of Object.entries(histories))
    test(`uses its own index if ${history}`, async (t) => {
      const store = await postgres.createStore(t);
      await store.execute(insertAnimals(category, status));
      await store.execute('analyze pets');
      for (const plans of ['force_generic_plan', 'force_custom_plan']) await expectOwnIndexes(store, plans);
    });

  test('uses its own index even if the statistics are outdated', async (t) => {
    const store = await postgres.createStore(t);
    await store.execute(insertAnimals('1', "'sold'"));
    await store.execute('analyze pets');
    await store.execute(insertAnimals('2', available));
    for (const plans of ['force_generic_plan', 'force_custom_plan']) await expectOwnIndexes(store, plans);
  });
});
