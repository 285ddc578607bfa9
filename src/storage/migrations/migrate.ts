import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { OperatorError } from '../../errors.ts';
import type { Engine } from '../dialect.ts';
import type { Tables } from '../tables.ts';

/** The names of all migrations, in order. Each engine has a file of each name. A released one never changes. */
export const newestSchema: readonly string[] = readdirSync(new URL('sqlite', import.meta.url))
  .map((file) => file.replace(/\.sql$/, ''))
  .sort();

/**
 * Returns the statements of a migration. Its SQL is frozen: it imports nothing, and a blank line separates its statements.
 * SQLite would run only the first of two that no blank line separates.
 */
export async function readStatements(engine: Engine, name: string): Promise<string[]> {
  const text = await readFile(new URL(`${engine}/${name}.sql`, import.meta.url), 'utf8');
  return text.trim().split(/\n\n+/);
}

function toMigration(engine: Engine, name: string): Migration {
  return {
    async up(db) {
      for (const statement of await readStatements(engine, name)) await sql.raw(statement).execute(db);
    },
  };
}

/** Migrates a database to the newest schema: on PostgreSQL in one transaction, on SQLite in that of the caller. */
export async function migrate(db: Kysely<Tables>, engine: Engine): Promise<void> {
  const known = Object.fromEntries(newestSchema.map((name) => [name, toMigration(engine, name)]));
  const schema = engine === 'postgres' ? await readSchema(db) : null;
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => known },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
    ...(schema !== null && { migrationTableSchema: schema }),
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Returns the schema of the tables, or of new ones. Without it, Kysely would also find tables of other schemas. */
async function readSchema(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ name: string | null }>`
    select coalesce(
      (select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where pg_class.oid = to_regclass('key_bans')),
      current_schema()) as name`.execute(db);
  return rows[0]?.name ?? null;
}

type Schema = 'none' | 'older' | 'newest' | 'newer';

/** Compares the migrations that ran with the migrations of this program. */
export function compareSchema(run: readonly string[]): Schema {
  if (run.some((name) => !newestSchema.includes(name))) return 'newer';
  if (run.length === newestSchema.length) return 'newest';
  return run.length === 0 ? 'none' : 'older';
}

/** Throws OperatorError for the schema of a newer release, and unless `mayMigrate` for none and an older one. */
export function requireSchema(run: readonly string[], store: string, mayMigrate: boolean): Schema {
  const schema = compareSchema(run);
  if (schema === 'newer')
    throw new OperatorError(
      `the database's schema is newer than this program: it has "${run.at(-1)}"; run the release that created this schema or a later release`,
    );
  if (mayMigrate) return schema;
  if (schema === 'none')
    throw new OperatorError(
      `there is no store ${store}: "serve", "import", "migrate" and "restore" create one`,
    );
  if (schema === 'older')
    throw new OperatorError(
      `the store ${store} has the schema of an older release, ${run.at(-1)}: "serve", "import" and "migrate" update it`,
    );
  return schema;
}

/** Returns the names of the migrations that ran, in order, or none without a schema. `query` returns the rows of SQL. */
export async function listRunMigrations(
  query: (sql: string) => readonly object[] | Promise<readonly object[]>,
): Promise<string[]> {
  try {
    const rows = await query('select name from schema_migrations order by name');
    return rows.map((row) => String(Object.values(row)[0]));
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

/** The code 42P01 of PostgreSQL is `undefined_table`. */
function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '42P01') || /^no such table: /.test(error.message);
}
