import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import { selectStanding } from './account-key-rows.ts';
import { endedKey } from './ended-keys.ts';
import { toTime } from './key-state.ts';

/** The state of a key and its account, without the rate limits. */
export interface Standing {
  readonly keyName: string | null;
  /** Null: the key never expires. */
  readonly keyExpiresAt: string | null;
  /** Number of open holds of the account. */
  readonly openHolds: bigint;
}

/** Reads the standing of a key. Throws `api_key_revoked` if the key does not exist. */
export type ReadStanding = (keyId: string) => Soon<Standing>;

/** Creates a reader that runs one statement per call. */
export function createReadStanding(database: Database): ReadStanding {
  return (keyId) =>
    after(database.read(selectStanding, { keyId }), ([row]) => {
      if (row === undefined) throw endedKey('revoked');
      const endsAtMs = row.expires_at_ms === null ? null : Number(row.expires_at_ms);
      return { keyName: row.name, keyExpiresAt: toTime(endsAtMs), openHolds: row.open_holds ?? 0n };
    });
}
