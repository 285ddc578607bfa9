import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { selectKeyEnds } from './api-key-rows.ts';
import { readState } from './key-state.ts';

/** Of some keys those that are no longer valid, each with the failure of its requests: for requests that have waited. */
export async function findEndedKeys(
  database: Database,
  ids: ReadonlySet<string>,
  nowMs: number,
): Promise<Map<string, AppError>> {
  const rows = await database.read(selectKeyEnds, { ids: JSON.stringify([...ids]) });
  const ended = new Map<string, AppError>();
  for (const row of rows) {
    const state = readState(row, nowMs);
    if (state === 'expired')
      ended.set(row.id, new AppError('api_key_expired', 'Authorization: this API key has expired'));
    if (state === 'revoked')
      ended.set(row.id, new AppError('api_key_revoked', 'Authorization: this API key has been revoked'));
  }
  return ended;
}
