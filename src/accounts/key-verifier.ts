import { type Clock, minuteMs, secondMs } from '../clock.ts';
import type { Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import type { Caller } from './account.ts';
import { readPlan } from './account-plan.ts';
import { hashKey, isKeyText, isOfEnvironment, type KeyEnvironment } from './api-key.ts';
import { selectKeyBySecret } from './api-key-rows.ts';
import { readScopes, readState } from './key-state.ts';
import { createKeyUses } from './key-uses.ts';
import { createKnownKeys } from './known-keys.ts';
import { createRememberedKeys, rememberedKeysMax } from './remembered-keys.ts';

/** Why a key is refused. `api_key_invalid`: the key is unknown, mistyped, or from another environment. */
export type KeyRefusal = 'api_key_invalid' | 'api_key_expired' | 'api_key_revoked';

/** The caller of a key, or the reason for its refusal. A refusal is a result, not an error. */
export type Verification = { readonly caller: Caller } | { readonly refusal: KeyRefusal };

/**
 * Time in ms for which the result of reading a key is reused. A revocation, a rotation, a suspension or a change of
 * plan takes effect within this time, or sooner after `forget`. Contract section 5 allows 2 s on one machine and 5 s
 * across instances.
 */
export const rememberedMs = secondMs;
/** Finds the caller of a key. Reuses the result of a read for `rememberedMs`. */
export interface KeyVerifier {
  /**
   * Returns the caller of a key, or the reason for its refusal. The result is a plain value if `recall` knows it, and
   * a promise if the key must be read. Unknown keys are not remembered, so a new key works at once. Fails with
   * AppError `unavailable` if the key cannot be read.
   */
  verify(text: string): Soon<Verification>;
  /**
   * Like `verify`, but without a query. Refuses a text that is malformed, has a wrong checksum, or is for another
   * environment. Returns null if the key must be read.
   */
  recall(text: string): Verification | null;
  /** True if this instance has found the key valid within the last hour (known-keys.ts). */
  isKnown(text: string): boolean;
  /**
   * Forgets the remembered keys of an account, so that they are read again. Null forgets all keys. Results of pending
   * reads are not remembered either, because these reads may have missed the change.
   */
  forget(accountId: bigint | null): void;
  /**
   * Writes when keys were last used. If a write fails, throws AppError `unavailable` and keeps the uses that are not
   * written yet.
   */
  flush(): Promise<void>;
}

const invalid: Verification = { refusal: 'api_key_invalid' };

/** Creates a verifier. Without `environment`, it accepts the keys of all environments. */
export function createKeyVerifier(
  database: Database,
  clock: Clock,
  options: { readonly environment?: KeyEnvironment; readonly keysMax?: number } = {},
): KeyVerifier {
  const { environment, keysMax = rememberedKeysMax } = options;
  const remembered = createRememberedKeys<Verification>(keysMax);
  const uses = createKeyUses(database);
  const known = createKnownKeys();
  const readOnce = createSingleReads((text) => read(text, clock()), remembered.find);
  let forgotten = 0;

  function recall(text: string, nowMs: number): Verification | null {
    const reminded = remembered.find(text, nowMs);
    if (reminded !== null) return reminded;
    const isHere = environment === undefined || isOfEnvironment(text, environment);
    return isHere && isKeyText(text) ? null : invalid;
  }

  async function read(text: string, readAtMs: number): Promise<Verification> {
    const forgottenBefore = forgotten;
    const [row] = await database.read(selectKeyBySecret, { secretHash: hashKey(text) });
    const verification = row === undefined ? invalid : judge(row, readAtMs);
    known.note(text, 'caller' in verification, readAtMs);
    if (row === undefined) return verification;
    if ('caller' in verification) uses.note(row.key_id, readAtMs);
    const staleAtMs = findStaleness(row, readAtMs);
    if (forgotten === forgottenBefore)
      remembered.put(text, { value: verification, accountId: row.account_id, readAtMs, staleAtMs });
    return verification;
  }

  return {
    verify(text) {
      const nowMs = clock();
      return recall(text, nowMs) ?? readOnce(text, nowMs);
    },
    recall: (text) => recall(text, clock()),
    isKnown: (text) => known.has(text, clock()),
    forget(accountId) {
      forgotten += 1;
      remembered.drop(accountId);
    },
    flush: () => uses.flush(),
  };
}

/** Combines simultaneous reads of a key. Otherwise every request would read a key whose remembered result is stale. */
function createSingleReads(
  read: (text: string) => Promise<Verification>,
  recall: (text: string, nowMs: number) => Verification | null,
): (text: string, nowMs: number) => Promise<Verification> {
  const underWay = new Map<string, Promise<Verification>>();

  function begin(text: string): Promise<Verification> {
    const verification = read(text).finally(() => underWay.delete(text));
    underWay.set(text, verification);
    return verification;
  }

  return (text, nowMs) => {
    const reading = underWay.get(text);
    if (reading === undefined) return begin(text);
    // The pending read began before this request, so the read may have missed a new key or a change. The result of the
    // read is used only if it was remembered. Otherwise all waiting requests share the next read, which begins after
    // they arrived.
    return reading.then(() => recall(text, nowMs) ?? underWay.get(text) ?? begin(text));
  };
}

interface KeyRow {
  readonly key_id: string;
  readonly account_id: bigint;
  readonly account_name: string;
  readonly plan: string;
  readonly per_minute: bigint | null;
  readonly per_day: bigint | null;
  readonly scopes: string;
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
  readonly suspended_at_ms: bigint | null;
}

function judge(row: KeyRow, nowMs: number): Verification {
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') return { refusal: `api_key_${state}` };
  const { name: plan, limits } = readPlan(row);
  const { account_id: accountId, account_name: accountName, key_id: keyId } = row;
  const isSuspended = row.suspended_at_ms !== null;
  return {
    caller: { accountId, accountName, keyId, plan, limits, scopes: readScopes(row.scopes), isSuspended },
  };
}

/**
 * Returns when a remembered key must be read again: after `rememberedMs`, at its expiry, or at the next full minute,
 * whichever comes first. The read at the full minute records the last use.
 */
function findStaleness({ expires_at_ms }: KeyRow, nowMs: number): number {
  const staleAtMs = Math.min(nowMs + rememberedMs, nowMs - (nowMs % minuteMs) + minuteMs);
  const endsLater = expires_at_ms === null || expires_at_ms <= nowMs || expires_at_ms > staleAtMs;
  return endsLater ? staleAtMs : Number(expires_at_ms);
}
