import { sql } from 'kysely';
import { insertAccount } from '../../src/accounts/account-rows.ts';
import type { ActingKey } from '../../src/accounts/acting-key.ts';
import { insertApiKey } from '../../src/accounts/key-rows.ts';
import { insertFirstAnswer } from '../../src/idempotency/answer-once.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { loadPets } from '../../src/pets/load-pets.ts';
import { insertedId, insertPet } from '../../src/pets/pet-rows.ts';
import { type Database, statement, type Value } from '../../src/storage/database.ts';
import { insertRow } from '../../src/storage/insert-row.ts';
import { columnsOf110 } from '../../src/storage/postgres/whole-store.ts';
import type { Tables } from '../../src/storage/tables.ts';
import { useStore } from '../../src/storage/transfer/copy-store.ts';
import { addHours } from '../../src/usage/usage.ts';
import { insertWebhook } from '../../src/webhooks/webhook-rows.ts';
import { petValues } from '../support/catalogue.ts';
import { insertWindow } from './window-rows.ts';

/** Texts whose byte order differs from the collation of every language and from the order in JavaScript. */
export const unorderedTexts = ['b', 'a', 'B', '_', 'é', 'z', '\uffff', '\u{1f408}', "it's \\N", 'a b', 'ab'];

/** Fills every table with extreme values of every column, and adds more animals than a batch holds. */
export async function fillStore(database: Database): Promise<void> {
  await loadPets(database, manyPets());
  await addAccount(database, 'Žofka');
  await addAccount(database, '猫', 'enterprise');
  for (const text of unorderedTexts) await addAllOf(database, text);
  const hour = { accountId: 2n, atMs: 3_600_000, requests: 7, refusals: 2, errors: 1 };
  await database.transact(addHours, [['hour', hour]]);
  await database.run(insertWindow, { subject: 'least', used: int64Min });
  await database.run(insertWindow, { subject: 'most', used: int64Max });
}

async function* manyPets() {
  const toPet = (index: number) => ({
    name: `n${index} 🐈`,
    categoryId: index % 2 === 0 ? int64Min : int64Max,
    status: 'sold' as const,
  });
  for (let first = 0; first < 12_000; first += 3_000)
    yield Array.from({ length: 3_000 }, (_, index) => toPet(first + index));
}

/** Adds an account and returns its id. */
export async function addAccount(database: Database, name: string, plan = 'free'): Promise<bigint> {
  const limit = plan === 'enterprise' ? 7n : null;
  const limits = { per_minute: limit, per_day: limit, open_holds: null };
  return insertedId(await database.run(insertAccount, { name, plan, ...limits, created_at_ms: 1n }));
}

/** Adds a key to an account, and returns it as the key of an act. */
export async function addKey(database: Database, accountId: bigint, keyId: string): Promise<ActingKey> {
  const secret = new Uint8Array(Buffer.from(keyId));
  const shown = { visible_start: keyId, name: keyId, scopes: '', created_at_ms: 2n, expires_at_ms: null };
  await database.run(insertApiKey, { id: keyId, account_id: accountId, secret_hash: secret, ...shown });
  return { accountId, keyId, nowMs: 3 };
}

const insertBan = insertRow('key_bans', [
  'key_id',
  'banned_until_ms',
  'last_ban_at_ms',
  'last_ban_ms',
  'refused_at_ms',
  'forget_at_ms',
]);

/** Adds a key, a ban, an idempotency record, a webhook and a window, all with the same text as their name. */
async function addAllOf(database: Database, text: string): Promise<void> {
  const bytes = new Uint8Array(Buffer.from(text));
  await addKey(database, 1n, text);
  await database.run(insertBan, {
    key_id: text,
    banned_until_ms: 3n,
    last_ban_at_ms: 4n,
    last_ban_ms: 5n,
    refused_at_ms: text,
    forget_at_ms: 6n,
  });
  await database.run(insertFirstAnswer, {
    account_id: 2n,
    key_hash: bytes,
    operation: text,
    body_hash: bytes,
    status: 201n,
    location: text,
    body: text,
  });
  const sees = { sees_pets: 1n, sees_orders: 'all' };
  const shown = { public_id: text, account_id: 2n, key_id: text, url: text, types: text, position: int64Max };
  await database.run(insertWebhook, { ...shown, ...sees });
  await database.run(insertWindow, { subject: text, used: 8n });
}

const selectTables = statement((query, _: Record<never, never>, { engine }) => {
  const names =
    engine === 'sqlite'
      ? sql<{
          name: string;
        }>`(select name from sqlite_schema where type = 'table' and name <> 'sqlite_sequence')`
      : sql<{ name: string }>`(select relname::text as name from pg_class
          where relkind = 'r' and relnamespace = current_schema()::regnamespace)`;
  return query.selectFrom(names.as('tables')).select('name').orderBy('name');
});

/** Tables of the migrations, of one server, and one that only release 1.0.0 uses. */
const otherTables = ['schema_migrations', 'schema_migrations_lock', 'server_timeline', 'idempotency_records'];

/** Lists the tables of a store, sorted by name. */
export async function listTables(database: Database): Promise<(keyof Tables)[]> {
  const rows = await database.read(selectTables, {});
  const names = rows.map(({ name }) => name).filter((name) => !otherTables.includes(name));
  return names.sort() as (keyof Tables)[];
}

/** Returns the whole content of a store, table by table, in a fixed order. */
export async function readContents(database: Database): Promise<Record<string, readonly string[]>> {
  const contents: Record<string, readonly string[]> = {};
  for (const name of await listTables(database)) {
    const select = statement((query) => query.selectFrom(name).selectAll());
    const rows = await database.read(select, {});
    contents[name] = rows.map((row) => describeRow(row as Record<string, Value>)).sort();
  }
  return contents;
}

function describeRow(row: Record<string, Value>): string {
  return Object.keys(row)
    .filter((column) => !columnsOf110.includes(column))
    .sort()
    .map((column) => row[column])
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)))
    .join('|');
}

/** Adds an animal and returns its id. */
export async function addPet(database: Database): Promise<bigint> {
  return insertedId(await database.run(insertPet, petValues({ status: 'sold' })));
}

/** Makes a store assign its next animal ids after `id`. */
export function setLastPetId(address: string, id: bigint): Promise<void> {
  return useStore(address, async (whole) => whole.setLastId('pets', id));
}
