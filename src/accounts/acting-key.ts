import { byShape, type Steps, statement } from '../storage/database.ts';
import { step } from '../storage/transaction.ts';
import { keyError } from './account.ts';
import { findKeyError, type KeyRights } from './key-state.ts';

/** The key that acts, and the time of the act by the clock of the service. */
export interface ActingKey {
  readonly accountId: bigint;
  readonly keyId: string;
  readonly nowMs: number;
}

type Shape = { readonly isLocked: boolean };

/**
 * Selects the end of the acting key and the suspension of its account. `isLocked`: waits until the account and the key
 * change no more, and keeps them so until the transaction ends. An act that leaves something lasting runs this first,
 * because authentication may have read the key up to a second ago. `requireLive` judges the row.
 */
export const selectActingKey = byShape(({ isLocked }: Shape) =>
  statement<{ accountId: bigint; keyId: string }>()((query, p, { lockRows }) =>
    query
      // The deletion of an account changes its row before its keys, so the rows are locked in this order.
      .selectFrom('accounts')
      .innerJoin('api_keys', 'api_keys.account_id', 'accounts.id')
      .select(['expires_at_ms', 'revoked_at_ms', 'suspended_at_ms'])
      .where('accounts.id', '=', p.accountId)
      .where('api_keys.id', '=', p.keyId)
      .$if(isLocked, (locked) => locked.modifyEnd(lockRows)),
  ),
);

/** Throws what authentication would say now, if the key has ended or its account is suspended or deleted. */
export function requireLive(row: KeyRights | undefined, { nowMs }: Pick<ActingKey, 'nowMs'>): void {
  const error = row === undefined ? keyError('api_key_revoked') : findKeyError(row, nowMs);
  if (error !== null) throw error;
}

/** Runs both: from then on, the key and its account stay as they are until the transaction ends. */
export function* lockActingKey({ accountId, keyId, nowMs }: ActingKey): Steps<void> {
  const [row] = yield* step(selectActingKey({ isLocked: true }), { accountId, keyId });
  requireLive(row, { nowMs });
}
