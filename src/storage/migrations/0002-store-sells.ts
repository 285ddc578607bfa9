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
 * Adds everything for changing and selling animals: orders, categories, inventory, events, and the stored responses
 * of idempotency keys.
 *
 * On PostgreSQL, the table `idempotency_records` is emptied but not dropped. Without the table, an instance of the
 * previous release would respond with 500 instead of 503.
 */
export function storeSellsMigration(engine: Dialect['engine']): Migration {
  async function up(db: Kysely<Tables>): Promise<void> {
    const statements = [
      ...createTables(engine),
      ...createAdministration(engine),
      ...createConsoleTables(engine),
      ...createWebhooks(engine),
      // 1 while an order owns the animal. Then only the order changes the animal's status, and the animal cannot be
      // deleted.
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
