import { type Database, statement } from './database.ts';

/** Selects the secret with a name, in one row or none. */
export const selectSecret = statement((query, p: { name: string }) =>
  query.selectFrom('secrets').select('value').where('name', '=', p.name),
);

/** Returns a secret that all instances of a store share. The first migration creates it. */
export async function readSecret(database: Database, name: 'cursor'): Promise<Uint8Array> {
  const [row] = await database.read(selectSecret, { name });
  if (row === undefined) throw new Error(`the store has no secret "${name}"`);
  return row.value;
}

const selectNow = statement((query, _, { nowMs }) => query.selectNoFrom(nowMs.as('now_ms')));

/** Returns the time of the store's clock in Unix milliseconds, which is the same for all instances. */
export async function readStoreTime(database: Pick<Database, 'read'>): Promise<number> {
  const [row] = await database.read(selectNow, {});
  if (row === undefined) throw new Error('the store gave no time');
  return Number(row.now_ms);
}
