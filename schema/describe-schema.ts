import { readFile } from 'node:fs/promises';
import type { Execute } from './part.ts';
import { listPostgresParts } from './postgres.ts';
import { listSqliteParts } from './sqlite.ts';

const engines = { sqlite: listSqliteParts, postgres: listPostgresParts };

/** The engines whose schema has a file. */
export type SchemaEngine = keyof typeof engines;

/** The file with the schema of an engine. */
export function fileOf(engine: SchemaEngine): URL {
  return new URL(`../src/storage/schema.${engine}.sql`, import.meta.url);
}

const header = `-- The present schema, which all migrations together make. \`npm run schema\` writes this file; a change is a migration.
-- storage/tables.ts says what the columns mean.
`;

/** Describes the schema of a store: functions of several tables, then each table with its indexes and triggers. */
export async function describeSchema(engine: SchemaEngine, execute: Execute): Promise<string> {
  const parts = await engines[engine](execute);
  const ofMigrator = /^schema_migrations/;
  const tables = parts.filter(({ kind, table }) => kind === 'table' && !ofMigrator.test(table));
  const known = await readOrder();
  const rank = (table: string) => (known.includes(table) ? known.indexOf(table) : known.length);
  const names = tables.map(({ table }) => table).sort((one, other) => rank(one) - rank(other));
  const all = ['', ...names].flatMap((name) => parts.filter(({ table }) => table === name));
  return (
    header +
    all
      .map(({ kind, sql }, at) => `${kind === 'index' && all[at - 1]?.kind === kind ? '' : '\n'}${sql};\n`)
      .join('')
  );
}

/** Returns the tables in the order of `storage/tables.ts`. */
async function readOrder(): Promise<string[]> {
  const text = await readFile(new URL('../src/storage/tables.ts', import.meta.url), 'utf8');
  const [, tables = ''] = text.split('export interface Tables');
  return Array.from(tables.matchAll(/^ {2}(\w+):/gm), ([, name = '']) => name);
}
