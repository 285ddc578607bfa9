import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from 'pg';
import { type PetStatus, petStatuses } from '../../src/pets/pet.ts';
import { selectPage } from '../../src/pets/pet-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { findPostgres, sqliteEngine } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';

const postgres = await findPostgres();
const animals = 10_000;

const available = "'available'";
const anyStatus = "case n % 3 when 0 then 'available' when 1 then 'pending' else 'sold' end";

/** SQL that adds `animals` animals, on any engine. `n` is the number of an animal, counted from the oldest. */
const insertAnimals = (category: string, status: string) => `
  insert into pets (name, category_id, status, is_owned)
  with recursive numbers as (select 0 as n union all select n + 1 from numbers where n < ${animals - 1})
  select 'Rex', ${category}, ${status}, 0 from numbers`;

/** Animals that are added before the statistics are made, and afterwards. */
const histories: Readonly<Record<string, readonly [before: string, ...after: string[]]>> = {
  'all animals are available and in one category': [insertAnimals('1', available)],
  'ten categories are evenly mixed': [insertAnimals('1 + n % 10', anyStatus)],
  'the animals of one category are all old': [
    insertAnimals('case when n < 500 then 1 else 2 end', anyStatus),
  ],
  'all sold animals of one category are old': [
    insertAnimals('1', "case when n < 500 then 'sold' else 'available' end"),
  ],
  'each animal has a different category': [insertAnimals('n', "'pending'")],
  'the statistics are outdated': [insertAnimals('1', "'sold'"), insertAnimals('2', available)],
};

/** A page of three animals with a status and a category. */
const named = { status: 'sold', categoryId: 1n, ids: '[1]' } as const;

const byCategory = 'pets_by_category_and_status (category_id=? AND status=? AND id<?)';

/** The filters of pages, with the index that each status uses on each engine. */
const pages = [
  ...petStatuses.map((status) => ({
    name: status,
    filter: { status, categoryId: null, ids: null },
    sqliteSearch: 'pets_by_status (status=? AND id<?)',
    postgresIndexes: [`pets_${status}_by_id`],
  })),
  ...petStatuses.map((status) => ({
    name: `a category and ${status}`,
    filter: { status, categoryId: 1n, ids: null },
    sqliteSearch: byCategory,
    postgresIndexes: [`pets_${status}_by_category`],
  })),
  {
    name: 'a category',
    filter: { status: null, categoryId: 1n, ids: null },
    sqliteSearch: byCategory,
    postgresIndexes: petStatuses.map((status) => `pets_${status}_by_category`),
  },
];

interface Filter {
  readonly status: PetStatus | null;
  readonly categoryId: bigint | null;
  readonly ids: string | null;
}

const compile = ({ status, ...filter }: Filter, engine: 'sqlite' | 'postgres') =>
  compileStatement(selectPage(status), engine, { ...filter, newestId: 1n, count: 1n });

// Without statistics, SQLite chooses a plan by the statement alone, whatever the store has.
test('a page of a status, a category or both uses its own index in SQLite', async (t) => {
  const store = await sqliteEngine.createStore(t);
  const explain = async (filter: Filter) => {
    const rows = await store.execute(`explain query plan ${compile(filter, 'sqlite').sql}`);
    const details = rows.map((row) => (row as { detail: string }).detail);
    return details.filter((detail) => /(?:SEARCH|SCAN) pets/.test(detail));
  };
  for (const { name, filter, sqliteSearch, postgresIndexes } of pages) {
    const expected = `SEARCH pets USING INDEX ${sqliteSearch}`;
    assert.deepEqual(await explain(filter), Array(postgresIndexes.length).fill(expected), name);
  }
  assert.deepEqual(await explain(named), ['SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)']);
});

describe('a page of a status, a category or both in PostgreSQL', { skip: postgres.skip }, () => {
  /** Returns every scan of the animals in the plan of a page. */
  async function explain(client: Client, { sql, names }: ReturnType<typeof compile>, categoryId: number) {
    const given: Readonly<Record<string, unknown>> = {
      ids: "'[1,2,3]'",
      newestId: animals,
      categoryId,
      count: 21,
    };
    await client.query(`prepare page as ${sql}`);
    const values = names.map((name) => given[name]).join();
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute page (${values})`);
    await client.query('deallocate page');
    const scans = rows.map((row) => row['QUERY PLAN']).filter((line) => / on pets/.test(line));
    return scans.map((line) => line.replace(/^[ >-]*| on pets.*$/g, ''));
  }

  for (const [history, [before, ...after]] of Object.entries(histories))
    test(`uses its own index if ${history}`, async (t) => {
      const { url } = await postgres.createStore(t);
      const client = await connectPostgres(t, url);
      for (const sql of [before, 'analyze pets', ...after]) await client.query(sql);
      for (const plans of ['force_generic_plan', 'force_custom_plan']) {
        await client.query(`set plan_cache_mode = ${plans}`);
        for (const categoryId of [1, 2, 77])
          for (const { name, filter, postgresIndexes } of pages) {
            const expected = postgresIndexes.map((index) => `Index Scan Backward using ${index}`);
            const scans = await explain(client, compile(filter, 'postgres'), categoryId);
            assert.deepEqual(scans, expected, `${name} ${categoryId} ${plans}`);
          }
        assert.deepEqual(await explain(client, compile(named, 'postgres'), 1), [
          'Index Scan using pets_pkey',
        ]);
      }
    });
});
