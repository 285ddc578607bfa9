import { LRUCache } from 'lru-cache';
import { type Clock, hourMs, minuteMs, secondMs } from '../clock.ts';
import type { PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { createRowBuffer } from '../storage/row-buffer.ts';
import type { Caller } from './account.ts';
import { readLimits } from './account-rows.ts';
import { hashKey, isKeyText, isOfEnvironment, type KeyEnvironment } from './api-key.ts';
import { type KeyRow, selectKeyBySecret, writeUses } from './key-rows.ts';
import { type KeyRefusal, readScopes, readState, toMs } from './key-state.ts';

/** The caller of a key, or the reason for its refusal. A refusal is a result, not an error. */
export type Verification = { readonly caller: Caller } | { readonly refusal: KeyRefusal };

/**
 * Time in ms for which the result of reading a key is reused. A revocation, a rotation, a suspension or a change of
 * plan takes effect within this time on every instance. 2 s on one machine and 5 s across instances are promised.
 */
export const freshMs = secondMs;
/** Time in ms for which a key stays known after it was found valid. */
export const knownMs = hourMs;
/** Maximum number of keys in memory, each of about 600 bytes. Forgets the key whose last read is the oldest. */
export const rememberedKeysMax = 50_000;

/** The result of reading a key that exists. */
interface Entry {
  readonly keyId: string;
  readonly verification: Verification;
  readonly readAtMs: number;
  readonly staleAtMs: number;
}

const invalid: Verification = { refusal: 'api_key_invalid' };

/** Finds the caller of a key. Reuses the result of a read for `freshMs`. */
export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

/** Creates a verifier. Without `environment`, it accepts the keys of all environments. */
export function createKeyVerifier(
  database: Database,
  clock: Clock,
  options: { readonly environment?: KeyEnvironment; readonly keysMax?: number } = {},
) {
  const { environment, keysMax = rememberedKeysMax } = options;
  /** By the text of the key. Only keys that exist have an entry, so that guesses take no place. */
  const entries = new LRUCache<string, Entry>({ max: keysMax });
  const uses = createRowBuffer(database, writeUses, Math.max);
  const { reads, read } = createReads(database, clock, entries, uses.add);

  /** Returns null if the key must be read for a request that arrived at `nowMs`. */
  function recall(text: string, nowMs = clock()): Verification | null {
    const entry = entries.peek(text);
    // A read that seems to lie in the future is not used: the clock was set back.
    if (entry !== undefined && nowMs < entry.staleAtMs && nowMs >= entry.readAtMs) return entry.verification;
    const isHere = environment === undefined || isOfEnvironment(text, environment);
    return isHere && isKeyText(text) ? null : invalid;
  }

  return {
    /**
     * Returns the remembered result, or refuses without a query a text that is malformed, has a wrong checksum, or is for
     * another environment. Returns null if the key must be read.
     */
    recall: (text: string) => recall(text),

    /**
     * Like `recall`, and reads the key if necessary. Unknown keys are not remembered, so a new key works at once. Throws
     * AppError `unavailable` if the key cannot be read.
     */
    async verify(text: string): Promise<Verification> {
      const nowMs = clock();
      const remembered = recall(text, nowMs);
      if (remembered !== null) return remembered;
      // A read that is running began before this request, so it may have missed a new key or a change. Its result counts
      // only if it is still fresh for this request. Otherwise all waiting requests share the next read.
      const running = reads.get(text);
      if (running === undefined) return await read(text);
      await running;
      return recall(text, nowMs) ?? (await (reads.get(text) ?? read(text)));
    },

    /** Forgets a key that was changed, so that the change takes effect at once on this instance. */
    forget(keyId: string): void {
      reads.clear();
      for (const [text, entry] of entries) if (entry.keyId === keyId) entries.delete(text);
    },

    /** True if this instance has found the key valid within the last `knownMs`. */
    isKnown(text: string): boolean {
      const entry = entries.peek(text);
      return entry !== undefined && 'caller' in entry.verification && clock() < entry.readAtMs + knownMs;
    },

    /** Writes when keys were last used. If a write fails, throws AppError `unavailable` and keeps what is not written. */
    flush: uses.flush,
  };
}

/** Reads keys and remembers those that exist. `noteUse` gets each minute in which a key is used. */
function createReads(
  database: Database,
  clock: Clock,
  entries: LRUCache<string, Entry>,
  noteUse: (keyId: string, minute: number) => void,
) {
  /** The read of each key that is running. */
  const reads = new Map<string, Promise<Verification>>();

  function read(text: string): Promise<Verification> {
    const sinceMs = clock();
    const begun: Promise<Verification> = database
      .read(selectKeyBySecret, { secretHash: hashKey(text) })
      // A read that was running while a key was changed may have missed the change, so its result is not remembered.
      .then(([row]) => take(text, row, sinceMs, reads.get(text) === begun))
      .finally(() => {
        if (reads.get(text) === begun) reads.delete(text);
      });
    reads.set(text, begun);
    return begun;
  }

  function take(text: string, row: KeyRow | undefined, readAtMs: number, isCurrent: boolean): Verification {
    const before = entries.peek(text);
    if (row === undefined || !isCurrent) entries.delete(text);
    if (row === undefined) return invalid;
    const verification = judge(row, readAtMs);
    const minute = readAtMs - (readAtMs % minuteMs);
    if ('caller' in verification && (before?.readAtMs ?? 0) < minute) noteUse(row.id, minute);
    const entry = { keyId: row.id, verification, readAtMs, staleAtMs: findStaleness(row, readAtMs) };
    if (isCurrent) entries.set(text, entry);
    return verification;
  }

  return { reads, read };
}

function judge(row: KeyRow, nowMs: number): Verification {
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') return { refusal: `api_key_${state}` };
  const caller = {
    accountId: row.account_id,
    accountName: row.account_name,
    keyId: row.id,
    keyName: row.name,
    keyExpiresAtMs: toMs(row.expires_at_ms),
    plan: row.plan as PlanName,
    limits: readLimits(row, nowMs),
    scopes: readScopes(row.scopes),
    isSuspended: row.suspended_at_ms !== null,
  };
  return { caller };
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
