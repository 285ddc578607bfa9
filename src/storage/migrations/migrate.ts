import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { OperatorError } from '../../errors.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../tables.ts';
import { firstMigration } from './0001-first.ts';
import { storeSellsMigration } from './0002-store-sells.ts';
import { currentKeysMigration } from './0003-current-keys.ts';
import { operatorQuestionsMigration } from './0004-operator-questions.ts';

/** All migrations in order. The name of a released migration must never change. */
const migrations: Record<string, (engine: Database['engine']) => Migration> = {
  '0001-first': firstMigration,
  '0002-store-sells': storeSellsMigration,
  '0003-current-keys': currentKeysMigration,
  '0004-operator-questions': operatorQuestionsMigration,
};

/** Names of all migrations, in order. */
export const newestSchema: readonly string[] = Object.keys(migrations);

/**
 * Migrates a database to the newest schema, completely or not at all. Any number of processes may do this at once.
 * Returns the names of the migrations that ran. Throws OperatorError if the schema is newer than this program.
 */
export async function migrate(db: Kysely<Tables>, engine: Database['engine']): Promise<string[]> {
  const known = Object.fromEntries(Object.entries(migrations).map(([name, build]) => [name, build(engine)]));
  const schema = engine === 'postgres' ? await readSchema(db) : null;
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => known },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
    ...(schema !== null && { migrationTableSchema: schema }),
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const newer = await findUnknownMigration(db, known);
    if (newer === undefined) throw error;
    throw new OperatorError(
      `the database's schema is newer than this program: it has "${newer}"; run the release that created this schema or a later release`,
      { cause: error },
    );
  }
  return results.map(({ migrationName }) => migrationName);
}

/**
 * Returns the PostgreSQL schema that contains the store's tables, or the schema in which they would be created.
 * Without it, Kysely would also find tables with the same names in other schemas.
 */
async function readSchema(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ name: string | null }>`
    select coalesce(
      (select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where pg_class.oid = to_regclass('key_bans')),
      current_schema()) as name`.execute(db);
  return rows[0]?.name ?? null;
}

/** Compares the migrations that ran with the migrations of this program. */
export function compareSchema(run: readonly string[]): 'none' | 'older' | 'newest' | 'newer' {
  if (run.some((name) => !newestSchema.includes(name))) return 'newer';
  if (run.length === newestSchema.length) return 'newest';
  return run.length === 0 ? 'none' : 'older';
}

/** Returns true if exactly the migrations of this program ran in a database. Takes no lock. */
export async function isNewest(db: Kysely<Tables>): Promise<boolean> {
  const run = await listRunMigrations(db);
  return run.join() === Object.keys(migrations).join();
}

async function findUnknownMigration(db: Kysely<Tables>, known: object): Promise<string | undefined> {
  const run = await listRunMigrations(db);
  return run.find((name) => !Object.hasOwn(known, name));
}

/** Returns the names of the migrations that ran, in order. Empty if there is no schema. Takes no lock. */
export async function listRunMigrations(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db
    .withTables<{ schema_migrations: { name: string } }>()
    .selectFrom('schema_migrations')
    .select('name')
    .orderBy('name')
    .execute()
    .catch(() => []);
  return rows.map(({ name }) => name);
}
