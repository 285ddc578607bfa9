import { LRUCache } from 'lru-cache';
import { type Clock, hourMs, minuteMs, secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Decision } from '../limits/rules/decision.ts';
import type { PlanName } from '../plans/plan.ts';
import type { Soon } from '../promises.ts';
import type { Database } from '../storage/database.ts';
import { createRowBuffer } from '../storage/row-buffer.ts';
import type { Caller, KeyRefusal } from './account.ts';
import { readLimits } from './account-rows.ts';
import { hashKey, isKeyText, isOfEnvironment, type KeyEnvironment } from './api-key.ts';
import { type KeyRow, readScopes, selectKeyBySecret, toMs, writeUses } from './key-rows.ts';
import { readState } from './key-state.ts';

/** The caller of a key, or the reason for its refusal. A refusal is a result, not an error. */
type Verification = { readonly caller: Caller } | { readonly refusal: KeyRefusal };

/** A verification, or a 429 without a query because the address has used up its rate limit. */
export type LookedUp = Verification | { readonly decision: Decision };

/**
 * Time in ms for which the result of reading a key is reused. A revocation, a rotation, a suspension or a change of
 * plan takes effect within this time on every instance. 2 s on one machine and 5 s across instances are promised.
 */
export const freshMs = secondMs;
/** Time in ms for which a key stays known after it was found valid. */
export const knownMs = hourMs;
/** Maximum number of keys in memory, each of about 600 bytes. Forgets the key whose last read is the oldest. */
export const rememberedKeysMax = 50_000;

/** Bounds of the lane for look-ups of unknown keys. */
export const lane = {
  /** Look-ups at once. An instance uses at most this many connections to PostgreSQL for unknown keys. */
  runningMax: 2,
  /** Waiting look-ups, beyond which an address that has used up its rate limit gets 429 without a query. */
  spentMax: 100,
  /** Waiting look-ups, beyond which every address gets 503. */
  waitingMax: 20_000,
  /** Maximum time in ms that a look-up may wait for its turn. */
  waitMsMax: 5 * secondMs,
} as const;

interface Options {
  /** Absent: the keys of all environments are accepted. */
  readonly environment?: KeyEnvironment;
  /** Returns the 429 of an address that has used up its rate limit, or null. Absent: no address is refused. */
  readonly findRefusal?: (address: string) => Soon<Decision | null>;
  readonly keysMax?: number;
}

/** Finds the callers of keys. Bounds the look-ups of unknown keys, to keep the store free for known callers. */
export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

/** Creates a verifier with its own memory and its own lane. */
export function createKeyVerifier(database: Database, clock: Clock, options: Options = {}) {
  const memory = createMemory(clock, options);
  const { recall, isKnown } = memory;
  const { read, forget, flush } = createReads(database, clock, memory);
  const { findRefusal = () => null } = options;
  const places = createLane(lane.runningMax);

  async function lookUp(text: string, address: string): Promise<LookedUp> {
    const sinceMs = clock();
    // Nothing is awaited between this count and the place in the lane, so that simultaneous requests do not pass together.
    const isBeyond = places.countWaiting() >= lane.spentMax;
    const refusal = isBeyond ? await findRefusal(address) : null;
    if (refusal !== null) return { decision: refusal };
    if (places.countWaiting() >= lane.waitingMax) throw overloaded();
    await places.take();
    try {
      if (isKnown(text)) return await read(text);
      // Failed look-ups may have used up the rate limit of the address in the meantime.
      const lateRefusal = isBeyond ? await findRefusal(address) : null;
      if (lateRefusal !== null) return { decision: lateRefusal };
      if (clock() - sinceMs > lane.waitMsMax) throw overloaded();
      return await read(text);
    } finally {
      places.end();
    }
  }

  return {
    /**
     * Verifies a key that came from an address. A remembered result, and the refusal of a text that is no key of this
     * environment, are plain values. A known key (found valid within `knownMs`) is read at once. All others wait in one
     * lane, in the order of their arrival. If `spentMax` wait on arrival, and the address has used up its rate limit by
     * its place, the result is a 429 without a query. Throws AppError `unavailable` if the key cannot be read, or if the
     * lane is full or too slow.
     */
    verify(text: string, address: string): Soon<LookedUp> {
      return recall(text) ?? (isKnown(text) ? read(text) : lookUp(text, address));
    },
    /** Verifies the key of an admitted request again, without the lane. */
    verifyAgain: (text: string): Soon<Verification> => recall(text) ?? read(text),
    /** Forgets a key that was changed, so that the change takes effect at once on this instance. */
    forget,
    /** Writes when keys were last used. If a write fails, throws AppError `unavailable` and keeps what is not written. */
    flush,
  };
}

/** Places that at most `runningMax` callers have at once. The others wait in the order of their arrival. */
function createLane(runningMax: number) {
  const waiting: (() => void)[] = [];
  let running = 0;

  return {
    countWaiting: () => waiting.length,
    async take(): Promise<void> {
      if (running < runningMax) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    end(): void {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    },
  };
}

function overloaded(): AppError {
  return new AppError('unavailable', 'too many unknown API keys are waiting for a lookup; try again');
}

interface Entry {
  readonly keyId: string;
  readonly verification: Verification;
  readonly readAtMs: number;
  readonly staleAtMs: number;
}

const invalid: Verification = { refusal: 'api_key_invalid' };

/** Remembers keys that exist. Unknown keys are not remembered, so that guesses take no place and a new key works at once. */
function createMemory(clock: Clock, { environment, keysMax = rememberedKeysMax }: Options) {
  const entries = new LRUCache<string, Entry>({ max: keysMax });

  return {
    entries,

    /** Returns null if the key must be read for a request that arrived at `nowMs`. */
    recall(text: string, nowMs = clock()): Verification | null {
      const entry = entries.peek(text);
      // A read that seems to lie in the future is not used: the clock was set back.
      if (entry !== undefined && nowMs < entry.staleAtMs && nowMs >= entry.readAtMs)
        return entry.verification;
      const isHere = environment === undefined || isOfEnvironment(text, environment);
      return isHere && isKeyText(text) ? null : invalid;
    },

    isKnown(text: string): boolean {
      const entry = entries.peek(text);
      return entry !== undefined && 'caller' in entry.verification && clock() < entry.readAtMs + knownMs;
    },
  };
}

/** Reads keys into a memory. Simultaneous requests of a key share its read. */
function createReads(database: Database, clock: Clock, { entries, recall }: ReturnType<typeof createMemory>) {
  const uses = createRowBuffer(database, writeUses, Math.max);
  const reads = new Map<string, Promise<Verification>>();

  function begin(text: string): Promise<Verification> {
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
    if ('caller' in verification && (before?.readAtMs ?? 0) < minute) uses.add(row.id, minute);
    const entry = { keyId: row.id, verification, readAtMs, staleAtMs: findStaleness(row, readAtMs) };
    if (isCurrent) entries.set(text, entry);
    return verification;
  }

  return {
    async read(text: string): Promise<Verification> {
      const nowMs = clock();
      const remembered = recall(text, nowMs);
      if (remembered !== null) return remembered;
      const running = reads.get(text);
      if (running === undefined) return await begin(text);
      // The running read began before this request, so it may have missed a new key or a change. Its result counts only
      // if it is still fresh for this request. Otherwise all waiting requests share the next read.
      await running;
      return recall(text, nowMs) ?? (await (reads.get(text) ?? begin(text)));
    },

    forget(keyId: string): void {
      reads.clear();
      for (const [text, entry] of entries) if (entry.keyId === keyId) entries.delete(text);
    },

    flush: uses.flush,
  };
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
  const isEnding = expires_at_ms !== null && expires_at_ms > nowMs;
  const endMs = isEnding ? Number(expires_at_ms) : Number.POSITIVE_INFINITY;
  return Math.min(nowMs + freshMs, nowMs - (nowMs % minuteMs) + minuteMs, endMs);
}
