import { readFileSync } from 'node:fs';

/** The newest schema. A test compares it with a migrated store. */
const schema = readFileSync(new URL('../schema.postgres.sql', import.meta.url), 'utf8');

/** Only release 1.0.0 uses this table. */
const unused = /^idempotency_records/;

/** Lists the names that a pattern finds in the schema. */
function listNames(pattern: RegExp): readonly string[] {
  const names = Array.from(schema.matchAll(pattern), ([, ...found]) => found.filter(Boolean).join(' on '));
  return names.filter((name) => !unused.test(name));
}

/** The tables of the newest schema. */
export const tables = listNames(/^create table (\w+)/gm);

/** Tables whose column `id` gets its values from a sequence. */
export const tablesWithIds = listNames(/^create table (\w+) \(\n {2}id bigint generated/gm);

/** Tables that have exactly one row. */
export const tablesOfOneRow = listNames(/^create table (\w+) \((?:\n {2}.*)*?\n {2}only_row /gm);

/** What a restore creates after the rows: the indexes, with those of the keys, the foreign keys and the triggers. */
export const parts = {
  index: listNames(/^create (?:unique )?index (\w+)|^ {2}constraint (\w+) (?:primary key|unique)/gm),
  'foreign key': listNames(/^ {2}constraint (\w+) foreign key/gm),
  trigger: listNames(/^create trigger (\w+)[^;]*?\son (\w+)/gm),
} as const;
