import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Client } from 'pg';
import type { Engine } from '../../src/storage/dialect.ts';
import { newestSchema, readStatements } from '../../src/storage/migrations/migrate.ts';
import { findPostgres } from '../support/engines.ts';

const postgres = await findPostgres();

/** Runs every migration in order. `run` throws for a text that is not one statement. */
async function runEach(engine: Engine, run: (text: string) => unknown): Promise<void> {
  for (const name of newestSchema)
    for (const text of await readStatements(engine, name))
      try {
        await run(text);
      } catch (cause) {
        const file = `src/storage/migrations/${engine}/${name}.sql`;
        const rule = 'a blank line stands after each statement, and nowhere inside of one';
        throw new Error(`${file}: ${rule}: ${text}`, { cause });
      }
}

test('each paragraph of a migration is one statement of SQLite', async () => {
  using database = new DatabaseSync(':memory:');
  database.function('sha256', (_text) => null);
  await runEach('sqlite', (text) => {
    const statement = database.prepare(text);
    // SQLite prepares the first statement of a text, and ignores the others.
    assert.equal(statement.sourceSQL, text);
    statement.run();
  });
});

test('each paragraph of a migration is one statement of PostgreSQL', { skip: postgres.skip }, async (t) => {
  const { url } = await postgres.createEmptyStore(t);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // Only a simple query may have several statements.
    await runEach('postgres', (text) => {
      const query = { text, queryMode: 'extended' };
      return client.query(query);
    });
  } finally {
    await client.end();
  }
});
