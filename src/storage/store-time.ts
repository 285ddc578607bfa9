import { type Database, statement } from './database.ts';

const selectNow = statement((query, _, { nowMs }) => query.selectNoFrom(nowMs.as('now_ms')));

/** Returns the time of the store's clock in Unix milliseconds, which is the same for all instances. */
export async function readStoreTime(database: Pick<Database, 'read'>): Promise<number> {
  const [row] = await database.read(selectNow, {});
  if (row === undefined) throw new Error('the store gave no time');
  return Number(row.now_ms);
}
