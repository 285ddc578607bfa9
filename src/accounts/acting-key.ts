import type { QueryCreator } from 'kysely';
import { type Steps, statement, step } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { keyError } from './account.ts';
import { findKeyError, type KeyRights } from './key-state.ts';

/** The key that acts, and the time of the act by the clock of the service. */
export interface ActingKey {
  readonly accountId: bigint;
  readonly keyId: string;
  readonly nowMs: number;
}

type Acting = { accountId: bigint; keyId: string };

const selectRights = (query: QueryCreator<Tables>, { accountId, keyId }: Acting) =>
  query
    // The deletion of an account changes its row before its keys, so the rows are locked in this order.
    .selectFrom('accounts')
    .innerJoin('api_keys', 'api_keys.account_id', 'accounts.id')
    .select(['expires_at_ms', 'revoked_at_ms', 'suspended_at_ms'])
    .where('accounts.id', '=', accountId)
    .where('api_keys.id', '=', keyId);

/** Selects the end of the acting key and the suspension of its account. `requireLive` judges the row. */
export const selectActingKey = statement((query, p: Acting) => selectRights(query, p));

/**
 * Like `selectActingKey`, but waits until the account and the key change no more, and keeps them so until the transaction
 * ends. An act that leaves something lasting runs this first, because authentication may have read the key up to a second
 * ago.
 */
export const selectLockedKey = statement((query, p: Acting, { lockRows }) =>
  selectRights(query, p).modifyEnd(lockRows),
);

/**
 * Throws what authentication would say now, if the key has ended or its account is suspended or deleted. No row counts as
 * revoked: a key keeps its row for good, so the store was replaced by one without it.
 */
export function requireLive(row: KeyRights | undefined, { nowMs }: Pick<ActingKey, 'nowMs'>): void {
  const error = row === undefined ? keyError('api_key_revoked') : findKeyError(row, nowMs);
  if (error !== null) throw error;
}

/** Locks the acting key (`selectLockedKey`) and judges it (`requireLive`). */
export function* lockActingKey({ accountId, keyId, nowMs }: ActingKey): Steps<void> {
  const [row] = yield* step(selectLockedKey, { accountId, keyId });
  requireLive(row, { nowMs });
}
