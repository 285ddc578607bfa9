import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { accountSuspended } from './account-suspended.ts';
import { selectKeyEnds } from './api-key-rows.ts';
import { readState } from './key-state.ts';

/**
 * Finds which keys have ended or belong to a suspended account, each with the error for its requests. For requests that
 * have waited.
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

/** The error for requests of a key that has ended. */
export function endedKey(state: 'expired' | 'revoked'): AppError {
  return state === 'expired'
    ? new AppError('api_key_expired', 'Authorization: this API key has expired')
    : new AppError('api_key_revoked', 'Authorization: this API key has been revoked');
}
