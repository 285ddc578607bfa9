import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../database.ts';
import type { Tables } from '../tables.ts';
import { createAdministration } from './0002/administration.ts';
import { createConsoleTables } from './0002/console.ts';
import { moveFirstAnswers } from './0002/first-answers.ts';
import { createPostgresTriggers } from './0002/postgres-triggers.ts';
import { createSqliteTriggers } from './0002/sqlite-triggers.ts';
import { countInventory, createTables, indexCategories } from './0002/tables.ts';
import { createWebhooks } from './0002/webhooks.ts';
import { columnTypes } from './column-types.ts';

/**
 * Adds what changes and sells animals: orders, categories, inventory, events, and the first answers of idempotency
 * keys. On PostgreSQL the old table of keys stays, empty, so that an instance of the previous release gets 503 and
 * not 500.
 */
export function storeSellsMigration(engine: Dialect['engine']): Migration {
  async function up(db: Kysely<Tables>): Promise<void> {
    const statements = [
      ...createTables(engine),
      ...createAdministration(engine),
      ...createConsoleTables(engine),
      ...createWebhooks(engine),
      // 1 while an order owns the animal: only the order changes its status, and nobody can delete it.
      sql`alter table pets add column is_owned ${columnTypes[engine].integer} not null default 0`,
      ...indexCategories(engine),
      ...countInventory(),
      ...(engine === 'sqlite' ? createSqliteTriggers() : createPostgresTriggers()),
      sql`drop table pet_edits`,
    ];
    for (const statement of statements) await statement.execute(db);
    await moveFirstAnswers(db, engine);
  }

  return { up };
}
