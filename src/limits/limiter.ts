import type { Clock } from '../clock.ts';
import { freeLimits, type Limits, readerLimits } from '../plans/plan.ts';
import { after, type Soon } from '../soon.ts';
import type { Counters } from './counters.ts';
import { addressSubject, readerSubject } from './rules/address.ts';
import { beginsBan, type Decision, decide, type Usage } from './rules/decision.ts';

/** Whose request it is, once its key has proved valid. */
export interface KeyCaller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly limits: Limits;
}

/**
 * Decides on requests, each exactly once (contract section 6). Whether it passes is a result, never an error. Answers
 * within the call where the counters do.
 */
export interface Limiter {
  /** Counts a request of a valid key: for the key's account, whose keys share its limits. */
  takeForKey(caller: KeyCaller): Soon<Decision>;
  /** Counts a request without a valid key: for its address, under the Free plan's numbers. */
  takeForAddress(address: string): Soon<Decision>;
  /** Counts a request for the documentation: for its address, apart from all other requests. */
  takeForReader(address: string): Soon<Decision>;
  /** How an address stands, with nothing counted; refuses nothing. */
  peekAddress(address: string): Soon<Decision>;
  /** The 429 of an address whose count is spent, with nothing counted; null while it has room. */
  findRefusal(address: string): Soon<Decision | null>;
}

/** A limiter over counters; fails only as they do. `onBan` is called once for each ban, by the request that begins it. */
export function createLimiter(options: {
  counters: Counters;
  clock: Clock;
  onBan?: (caller: KeyCaller, untilMs: number) => void;
}): Limiter {
  const { counters, clock, onBan = () => undefined } = options;
  const subjects = new WeakMap<KeyCaller, string>();

  /** Writing an id out costs more than all the counting, so a caller that comes again keeps its text. */
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
