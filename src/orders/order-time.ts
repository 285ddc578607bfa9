import { after, type Soon } from '../soon.ts';
import { type Database, statement } from '../storage/database.ts';

const selectNow = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query.selectNoFrom(nowMs.as('now_ms')),
);

/** Returns the time of the store's clock in Unix milliseconds. This clock decides when holds expire. */
export function readOrderTime(database: Database): Soon<number> {
  return after(database.read(selectNow, {}), ([row]) => {
    if (row === undefined) throw new Error('the store gave no time');
    return Number(row.now_ms);
  });
}
