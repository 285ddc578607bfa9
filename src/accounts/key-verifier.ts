import { type Clock, hourMs, minuteMs, secondMs } from '../clock.ts';
import type { PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import type { Caller } from './account.ts';
import { readLimits } from './account-rows.ts';
import { hashKey, isKeyText, isOfEnvironment, type KeyEnvironment } from './api-key.ts';
import { selectKeyBySecret } from './key-rows.ts';
import { type KeyRefusal, readScopes, readState } from './key-state.ts';
import { createKeyUses } from './key-uses.ts';

/** The caller of a key, or the reason for its refusal. A refusal is a result, not an error. */
export type Verification = { readonly caller: Caller } | { readonly refusal: KeyRefusal };

/**
 * Time in ms for which the result of reading a key is reused. A revocation, a rotation, a suspension or a change of
 * plan takes effect within this time on every instance. 2 s on one machine and 5 s across instances are promised.
 */
export const freshMs = secondMs;
/** Time in ms for which a key stays known after it was found valid. */
export const knownMs = hourMs;
/** Maximum number of keys in memory, each of about 600 bytes. Evicts the key whose last read is the oldest. */
export const rememberedKeysMax = 50_000;

/** Finds the caller of a key. Reuses the result of a read for `freshMs`. */
export interface KeyVerifier {
  /**
   * Returns the remembered result, or refuses without a query a text that is malformed, has a wrong checksum, or is for
   * another environment. Returns null if the key must be read.
   */
  recall(text: string): Verification | null;
  /**
   * Like `recall`, and reads the key if necessary. Unknown keys are not remembered, so a new key works at once. Throws
   * AppError `unavailable` if the key cannot be read.
   */
  verify(text: string): Promise<Verification>;
  /** Forgets a key that was changed, so that the change takes effect at once on this instance. */
  forget(keyId: string): void;
  /** True if this instance has found the key valid within the last `knownMs`. */
  isKnown(text: string): boolean;
  /**
   * Writes when keys were last used. If a write fails, throws AppError `unavailable` and keeps the uses that are not
   * written yet.
   */
  flush(): Promise<void>;
}

/** The result of reading a key that exists. */
interface Entry {
  readonly keyId: string;
  readonly verification: Verification;
  readonly readAtMs: number;
  readonly staleAtMs: number;
}

const invalid: Verification = { refusal: 'api_key_invalid' };

/** Entries by the text of the key. Only keys that exist have an entry, so that guesses cannot evict them. */
function createEntries(keysMax: number) {
  const entries = new Map<string, Entry>();
  return {
    find: (text: string) => entries.get(text),
    /** Replaces the entry of a key. Null removes it. */
    put(text: string, entry: Entry | null): void {
      entries.delete(text);
      if (entry === null) return;
      entries.set(text, entry);
      const [oldest] = entries.keys();
      if (entries.size > keysMax && oldest !== undefined) entries.delete(oldest);
    },
    remove(keyId: string): void {
      for (const [text, entry] of entries) if (entry.keyId === keyId) entries.delete(text);
    },
  };
}

/** Creates a verifier. Without `environment`, it accepts the keys of all environments. */
export function createKeyVerifier(
  database: Database,
  clock: Clock,
  options: { readonly environment?: KeyEnvironment; readonly keysMax?: number } = {},
): KeyVerifier {
  const { environment } = options;
  const entries = createEntries(options.keysMax ?? rememberedKeysMax);
  const reads = createSharedReads((text) => read(text, clock()));
  const uses = createKeyUses(database);
  let forgottenTimes = 0;

  function recall(text: string, nowMs: number): Verification | null {
    const entry = entries.find(text);
    // A read that seems to lie in the future is not used: the clock was set back.
    if (entry !== undefined && nowMs < entry.staleAtMs && nowMs >= entry.readAtMs) return entry.verification;
    const isHere = environment === undefined || isOfEnvironment(text, environment);
    return isHere && isKeyText(text) ? null : invalid;
  }

  async function read(text: string, readAtMs: number): Promise<Verification> {
    const forgottenBefore = forgottenTimes;
    const [row] = await database.read(selectKeyBySecret, { secretHash: hashKey(text) });
    const verification = row === undefined ? invalid : judge(row, readAtMs);
    if (row !== undefined && 'caller' in verification) uses.note(row.key_id, readAtMs);
    // A read that was running while a key was changed may have missed the change.
    const isCurrent = row !== undefined && forgottenTimes === forgottenBefore;
    entries.put(text, isCurrent ? toEntry(row, verification, readAtMs) : null);
    return verification;
  }

  return {
    recall: (text) => recall(text, clock()),

    async verify(text) {
      const nowMs = clock();
      const remembered = recall(text, nowMs);
      if (remembered !== null) return remembered;
      const earlier = reads.find(text);
      if (earlier === undefined) return await reads.join(text);
      // The running read began before this request, so it may have missed a new key or a change. Its result counts only
      // if it is still fresh for this request. Otherwise all waiting requests share the next read.
      await earlier;
      return recall(text, nowMs) ?? (await reads.join(text));
    },

    forget(keyId) {
      forgottenTimes += 1;
      entries.remove(keyId);
    },

    isKnown(text) {
      const entry = entries.find(text);
      return entry !== undefined && 'caller' in entry.verification && clock() < entry.readAtMs + knownMs;
    },

    flush: () => uses.flush(),
  };
}

/** Simultaneous requests of a key share one read. */
function createSharedReads(read: (text: string) => Promise<Verification>) {
  const reading = new Map<string, Promise<Verification>>();
  return {
    /** Returns the read that is running. */
    find: (text: string) => reading.get(text),
    /** Joins the read that is running, or begins one. */
    join(text: string): Promise<Verification> {
      const running = reading.get(text);
      if (running !== undefined) return running;
      const begun = read(text).finally(() => reading.delete(text));
      reading.set(text, begun);
      return begun;
    },
  };
}

interface KeyRow {
  readonly key_id: string;
  readonly account_id: bigint;
  readonly account_name: string;
  readonly plan: string;
  readonly per_minute: bigint | null;
  readonly per_day: bigint | null;
  readonly own_per_minute: bigint | null;
  readonly own_per_day: bigint | null;
  readonly own_until_ms: bigint | null;
  readonly scopes: string;
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
  readonly suspended_at_ms: bigint | null;
}

function judge(row: KeyRow, nowMs: number): Verification {
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') return { refusal: `api_key_${state}` };
  const plan = row.plan as PlanName;
  const limits = readLimits(row, nowMs);
  const { account_id: accountId, account_name: accountName, key_id: keyId } = row;
  const isSuspended = row.suspended_at_ms !== null;
  return {
    caller: { accountId, accountName, keyId, plan, limits, scopes: readScopes(row.scopes), isSuspended },
  };
}

function toEntry(row: KeyRow, verification: Verification, readAtMs: number): Entry {
  return { keyId: row.key_id, verification, readAtMs, staleAtMs: findStaleness(row, readAtMs) };
}

/**
 * Returns when a remembered key must be read again: after `freshMs`, at its expiry, or at the next full minute,
 * whichever comes first. The read at the full minute records the last use.
 */
function findStaleness({ expires_at_ms }: KeyRow, nowMs: number): number {
  const staleAtMs = Math.min(nowMs + freshMs, nowMs - (nowMs % minuteMs) + minuteMs);
  const endsLater = expires_at_ms === null || expires_at_ms <= nowMs || expires_at_ms > staleAtMs;
  return endsLater ? staleAtMs : Number(expires_at_ms);
}
