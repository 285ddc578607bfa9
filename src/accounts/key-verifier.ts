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

/** Why a key stands for nobody: it was never issued or is mistyped, has expired, or was revoked. */
export type KeyRefusal = 'api_key_invalid' | 'api_key_expired' | 'api_key_revoked';

/** Who a key stands for, or why for nobody: a refusal is a result, not an error. */
export type Verification = { readonly caller: Caller } | { readonly refusal: KeyRefusal };

/**
 * How long a key that was read may be answered from memory: a revoke, a rotation or a change of plan takes effect
 * within this time (contract section 5: 2 s on one machine, 5 s across instances), and sooner where it is told (`forget`).
 */
export const rememberedMs = secondMs;
/** Tells who a key stands for, from memory if it was read within `rememberedMs`. */
export interface KeyVerifier {
  /**
   * Who a key's text stands for, or why for nobody; a plain value if `recall` knows it, a promise if it has to be read.
   * Unknown keys are not remembered, so a new key works at once. Fails with AppError `unavailable` if a key cannot be
   * read.
   */
  verify(text: string): Soon<Verification>;
  /**
   * The same without a query: what is remembered, or the refusal of a text without a key's form or checksum, or of another
   * environment; null if
   * the key has to be read.
   */
  recall(text: string): Verification | null;
  /** Whether this instance has found the key valid within the last hour (known-keys.ts), remembered or not. */
  isKnown(text: string): boolean;
  /**
   * Lets the keys of an account, or of all where it is null, be read again: by those reads, too, that have begun already
   * and may not have seen what has changed.
   */
  forget(accountId: bigint | null): void;
  /** Writes when keys were last used, to the minute. Throws AppError `unavailable`; what was not written is kept. */
  flush(): Promise<void>;
}

const invalid: Verification = { refusal: 'api_key_invalid' };

/**
 * A verifier over a store, for any number of requests at once: of a key one read at a time is under way, and what it
 * finds serves all that wait for it, or else the next one does. Without an `environment` keys of all are accepted.
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

/** Requests that come at once cost one read: without this each second would begin with as many as there are. */
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
    // What it finds holds for this request only if it would be remembered: the key may have been made since. Of the
    // next read all holds, for all that have waited, as it begins after they came.
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
}

function judge(row: KeyRow, nowMs: number): Verification {
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') return { refusal: `api_key_${state}` };
  const { name: plan, limits } = readPlan(row);
  const { account_id: accountId, account_name: accountName, key_id: keyId } = row;
  return { caller: { accountId, accountName, keyId, plan, limits, scopes: readScopes(row.scopes) } };
}

/** Once the time is up, or the key; and at the turn of each minute, for the note of its last use. */
function findStaleness({ expires_at_ms }: KeyRow, nowMs: number): number {
  const staleAtMs = Math.min(nowMs + rememberedMs, nowMs - (nowMs % minuteMs) + minuteMs);
  const endsLater = expires_at_ms === null || expires_at_ms <= nowMs || expires_at_ms > staleAtMs;
  return endsLater ? staleAtMs : Number(expires_at_ms);
}
