import { type Database, statement } from './database.ts';

const selectSecret = statement<{ name: string }>()((query, p) =>
  query.selectFrom('secrets').select('value').where('name', '=', p.name),
);

/** A secret that all instances over one store share; made with the store (migration 0001). */
export async function readSecret(database: Database, name: 'cursor'): Promise<Uint8Array> {
  const [row] = await database.read(selectSecret, { name });
  if (row === undefined) throw new Error(`the store has no secret "${name}"`);
  return row.value;
}
