import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { type NewPet, type PetStatus, petStatuses } from '../../src/pets/pet.ts';
import { selectNewestOf } from '../../src/pets/pet-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { findPostgres } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();

async function createFile(t: TestContext): Promise<DatabaseSync> {
  const path = join(await makeFolder(t), 'store.db');
  await (await openSqlite(path)).close();
  const file = new DatabaseSync(path);
  t.after(() => file.close());
  return file;
}

function explainInSqlite(file: DatabaseSync, status: PetStatus): string {
  const { sql } = compileStatement(selectNewestOf[status], 'sqlite');
  const steps = file.prepare(`explain query plan ${sql}`).all();
  return steps.map(({ detail }) => detail).join('\n');
}

async function explainInPostgres(url: string, status: PetStatus): Promise<string> {
  const { sql } = compileStatement(selectNewestOf[status], 'postgres');
  const client = new Client(url);
  await client.connect();
  try {
    await client.query('analyze pets');
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare page as ${sql}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>('explain execute page (20000, 21)');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await client.end();
  }
}

for (const status of petStatuses)
  test(`in SQLite a page of ${status} animals is read along their own index`, async (t) => {
    const plan = explainInSqlite(await createFile(t), status);
    assert.equal(plan, `SEARCH pets USING INDEX pets_${status} (id<?)`);
  });

test('a store whose index is of all statuses has its pages read along that', async (t) => {
  const file = await createFile(t);
  for (const status of petStatuses) file.exec(`drop index pets_${status}`);
  file.exec('create index pets_by_status on pets (status, id)');
  const plan = explainInSqlite(file, 'sold');
  assert.equal(plan, 'SEARCH pets USING INDEX pets_by_status (status=? AND id<?)');
});

test('SQLite keeps to the three statuses, whoever writes', async (t) => {
  const file = await createFile(t);
  const add = file.prepare("insert into pets (name, category_id, status) values ('Rex', 1, ?)");
  for (const status of petStatuses) add.run(status);
  for (const status of ['Sold', '', 'gone', ' sold'])
    assert.throws(() => add.run(status), /CHECK constraint failed/, JSON.stringify(status));
});

test('in PostgreSQL a page of a rare status is read along its own index', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const database = await store.open();
  const catalogue = createCatalogue(database, Date.now);
  await catalogue.load(animals(20_000));
  assert.match(await explainInPostgres(store.url, 'sold'), /Index Scan Backward using pets_sold on pets/);
});

/** One in a thousand is sold. */
async function* animals(count: number): AsyncGenerator<NewPet[]> {
  yield Array.from({ length: count }, (_, index) => ({
    name: 'Rex',
    categoryId: 1n,
    status: index % 1_000 === 0 ? ('sold' as const) : ('available' as const),
  }));
}
