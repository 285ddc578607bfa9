import type { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { accountSuspended } from './account.ts';
import { selectNamedKeys, selectStanding } from './key-rows.ts';
import { keyError, readState, toMs, toTime } from './key-state.ts';

/** Reads the name and the end of a key, and the number of open holds of its account. */
export type ReadStanding = ReturnType<typeof createReadStanding>;

/** Creates a reader that runs one statement per call. It throws `api_key_revoked` if the key does not exist. */
export function createReadStanding(database: Database) {
  return async (keyId: string) => {
    const [row] = await database.read(selectStanding, { keyId });
    if (row === undefined) throw keyError('api_key_revoked');
    const keyExpiresAt = toTime(toMs(row.expires_at_ms));
    return { keyName: row.name, keyExpiresAt, openHolds: row.open_holds ?? 0n };
  };
}

/**
 * Checks keys again for requests that have waited since their authentication. Returns an error for each key that is
 * expired, revoked, or of a suspended account.
 */
export async function findEndedKeys(
  database: Database,
  ids: ReadonlySet<string>,
  nowMs: number,
): Promise<Map<string, AppError>> {
  const rows = await database.read(selectNamedKeys, { ids: JSON.stringify([...ids]) });
  const ended = new Map<string, AppError>();
  for (const row of rows) {
    const state = readState(row, nowMs);
    if (state === 'expired' || state === 'revoked') ended.set(row.id, keyError(`api_key_${state}`));
    else if (row.suspended_at_ms !== null) ended.set(row.id, accountSuspended());
  }
  return ended;
}
