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

/** Why a key has no caller: it is unknown or mistyped, has expired, or was revoked. */
export type KeyRefusal = 'api_key_invalid' | 'api_key_expired' | 'api_key_revoked';

/** The caller of a key, or why it has none. A refusal is a result, not an error. */
export type Verification = { readonly caller: Caller } | { readonly refusal: KeyRefusal };

/**
 * How long the result for a key is reused after it was read. A revocation, a rotation or a change of plan takes effect
 * within this time (contract section 5: 2 s on one machine, 5 s across instances), or sooner after `forget`.
 */
export const rememberedMs = secondMs;
/** Finds the caller of a key, from memory if it was read within `rememberedMs`. */
export interface KeyVerifier {
  /**
   * The caller of a key's text, or why it has none. A plain value if `recall` knows it, a promise if the key must be
   * read. Unknown keys are not remembered, so a new key works at once. Fails with AppError `unavailable` if a key
   * cannot be read.
   */
  verify(text: string): Soon<Verification>;
  /**
   * The same without a query. Returns the remembered result. Refuses a text that is malformed, has a wrong checksum, or
   * is for another environment. Null if the key must be read.
   */
  recall(text: string): Verification | null;
  /** Whether this instance has found the key valid within the last hour (known-keys.ts). */
  isKnown(text: string): boolean;
  /**
   * Forgets the keys of an account, or of all accounts if it is null, so that they are read again. Reads that are under
   * way may have missed the change, so their results are not remembered either.
   */
  forget(accountId: bigint | null): void;
  /**
   * Writes when keys were last used, to the minute. Throws AppError `unavailable` and keeps what it could not write.
   */
  flush(): Promise<void>;
}

const invalid: Verification = { refusal: 'api_key_invalid' };

/**
 * Creates a verifier for any number of simultaneous requests. It reads each key at most once at a time. All requests
 * that wait get this result, or that of the next read. Without an `environment`, keys of all environments are accepted.
 */
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

/**
 * Combines simultaneous reads of a key into one. Otherwise every request would read the key when its memory expires.
 */
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
    // This read began before the request, and the key may have been created since. So its result is used only if it
    // may be remembered. The next read begins after this request, so its result serves all that have waited.
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
 * When a remembered key must be read again: after `rememberedMs`, at its expiry, and at the start of each minute, to
 * record its last use.
 */
function findStaleness({ expires_at_ms }: KeyRow, nowMs: number): number {
  const staleAtMs = Math.min(nowMs + rememberedMs, nowMs - (nowMs % minuteMs) + minuteMs);
  const endsLater = expires_at_ms === null || expires_at_ms <= nowMs || expires_at_ms > staleAtMs;
  return endsLater ? staleAtMs : Number(expires_at_ms);
}
