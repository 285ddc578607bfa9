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
