import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { accountSuspended } from './account-suspended.ts';
import { selectKeyEnds } from './api-key-rows.ts';
import { readState } from './key-state.ts';

/**
 * Checks keys again for requests that have waited since their authentication. Returns an error for each key that is
 * expired, revoked, or of a suspended account.
 */
export async function findEndedKeys(
  database: Database,
  ids: ReadonlySet<string>,
  nowMs: number,
): Promise<Map<string, AppError>> {
  const rows = await database.read(selectKeyEnds, { ids: JSON.stringify([...ids]) });
  const ended = new Map<string, AppError>();
  for (const row of rows) {
    const state = readState(row, nowMs);
    if (state === 'expired' || state === 'revoked') ended.set(row.id, endedKey(state));
    else if (row.suspended_at_ms !== null) ended.set(row.id, accountSuspended());
  }
  return ended;
}

/** Returns the 401 error for requests of an expired or revoked key. */
export function endedKey(state: 'expired' | 'revoked'): AppError {
  return state === 'expired'
    ? new AppError('api_key_expired', 'Authorization: this API key has expired')
    : new AppError('api_key_revoked', 'Authorization: this API key has been revoked');
}
