import { after, type Soon } from '../soon.ts';
import { type Database, statement } from '../storage/database.ts';

const selectNow = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query.selectNoFrom(nowMs.as('now_ms')),
);

/** The time by the store's clock, which decides when holds end. Unix milliseconds. */
export function readOrderTime(database: Database): Soon<number> {
  return after(database.read(selectNow, {}), ([row]) => {
    if (row === undefined) throw new Error('the store gave no time');
    return Number(row.now_ms);
  });
}
