import { sql } from 'kysely';
import { erase } from '../storage/erase.ts';

/** Deletes the windows of an account, and the bans of its keys. */
export const eraseCounts = [
  erase('usage_windows', (p) => sql`subject = 'account:' || cast(${p.accountId} as bigint)`),
  erase('key_bans', (p) => sql`key_id in (select id from api_keys where account_id = ${p.accountId})`),
];
