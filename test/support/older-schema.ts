import { readStatements } from '../../src/storage/migrations/migrate.ts';
import type { Store } from './engines.ts';

/** The migrations of release 1.1.0. The first one is that of release 1.0.0. */
export const migrationsOf110 = ['0001-first', '0002-store-sells', '0003-current-keys'];

/** Gives an empty store the schema of an older release, as that release does. */
export async function migrateAsBefore(
  { url, execute }: Pick<Store, 'url' | 'execute'>,
  migrations: readonly string[],
): Promise<void> {
  await execute('create table schema_migrations (name varchar(255) primary key, timestamp varchar(255))');
  for (const name of migrations) {
    await runMigration({ url, execute }, name);
    await execute(`insert into schema_migrations values ('${name}', '2026-01-01T00:00:00.000Z')`);
  }
}

/** Runs the statements of one migration, and does not note it. */
export async function runMigration(
  { url, execute }: Pick<Store, 'url' | 'execute'>,
  name: string,
): Promise<void> {
  const kind = url.startsWith('sqlite:') ? 'sqlite' : 'postgres';
  for (const statement of await readStatements(kind, name)) await execute(statement);
}
