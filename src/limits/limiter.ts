import type { Clock } from '../clock.ts';
import { freeLimits, type Limits, readerLimits } from '../plans/plan.ts';
import { after, type Soon } from '../soon.ts';
import type { Counters } from './counters.ts';
import { addressSubject, readerSubject } from './rules/address.ts';
import { beginsBan, type Decision, decide, type Usage } from './rules/decision.ts';

/** The caller of a request with a valid key. */
export interface KeyCaller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly limits: Limits;
}

/**
 * Decides on each request exactly once (contract section 6). A refusal is a result, not an error. Is synchronous if the
 * counters are.
 */
export interface Limiter {
  /** Counts a request of a valid key for its account. All keys of an account share its limits. */
  takeForKey(caller: KeyCaller): Soon<Decision>;
  /** Counts a request without a valid key for its address, with the limits of Free. */
  takeForAddress(address: string): Soon<Decision>;
  /** Counts a request for a documentation page against its address, separately from all other requests. */
  takeForReader(address: string): Soon<Decision>;
  /** The usage of an address. Counts and refuses nothing. */
  peekAddress(address: string): Soon<Decision>;
  /** The 429 of an address without room in a window; null if it has room. Counts nothing. */
  findRefusal(address: string): Soon<Decision | null>;
}

/**
 * Creates a limiter. Its methods fail only if the counters fail. The request that begins a ban calls `onBan`, once for
 * each ban.
 */
export function createLimiter(options: {
  counters: Counters;
  clock: Clock;
  onBan?: (caller: KeyCaller, untilMs: number) => void;
}): Limiter {
  const { counters, clock, onBan = () => undefined } = options;
  const subjects = new WeakMap<KeyCaller, string>();

  /** Caches the subject of each caller: formatting a bigint costs more than counting. */
  function accountSubject(caller: KeyCaller): string {
    const known = subjects.get(caller);
    if (known !== undefined) return known;
    const subject = `account:${caller.accountId}`;
    subjects.set(caller, subject);
    return subject;
  }

  return {
    takeForKey(caller) {
      const { limits, keyId } = caller;
      const usage = counters.take(accountSubject(caller), limits, keyId, clock());
      return after(usage, (known) => {
        if (beginsBan(known)) onBan(caller, known.bannedUntilMs);
        return decide(known, limits);
      });
    },

    takeForAddress(address) {
      return decideOn(counters.take(addressSubject(address), freeLimits, null, clock()), freeLimits);
    },

    takeForReader(address) {
      return decideOn(counters.take(readerSubject(address), readerLimits, null, clock()), readerLimits);
    },

    peekAddress(address) {
      return decideOn(counters.peek(addressSubject(address), clock()), freeLimits);
    },

    findRefusal(address) {
      return after(counters.peek(addressSubject(address), clock()), (usage) => {
        const hasRoom = usage.minuteUsed < freeLimits.perMinute && usage.dayUsed < freeLimits.perDay;
        return hasRoom ? null : decide({ ...usage, verdict: 'refused' }, freeLimits);
      });
    },
  };
}

function decideOn(usage: Soon<Usage>, limits: Limits): Soon<Decision> {
  return after(usage, (known) => decide(known, limits));
}
