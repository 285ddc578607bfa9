import type { Clock } from '../clock.ts';
import { freeLimits, type Limits, type PlanName, readerLimits } from '../plans/plan.ts';
import { after, type Soon } from '../promises.ts';
import type { Counters } from './counters.ts';
import { addressSubject, readerSubject } from './rules/address.ts';
import { type Decision, decide, type Usage } from './rules/decision.ts';

/** The caller of a request with a valid key. */
export interface KeyCaller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly plan: PlanName;
  readonly limits: Limits;
}

/** Decides whether requests pass. If the counters return plain values, so do these methods. */
export type Limiter = ReturnType<typeof createLimiter>;

/** Creates a limiter. `onTake` gets each counted or refused request. */
export function createLimiter(options: {
  counters: Counters;
  clock: Clock;
  onTake?: (usage: Usage, caller: KeyCaller | null) => void;
}) {
  const { counters, clock, onTake = () => undefined } = options;
  const look = (address: string) => counters.look(addressSubject(address), clock());

  function take(subject: string, limits: Limits, caller: KeyCaller | null): Soon<Decision> {
    return after(counters.take(subject, limits, caller?.keyId ?? null, clock()), (usage) => {
      onTake(usage, caller);
      return decide(usage, limits);
    });
  }

  return {
    /** Counts a request with a valid key for its account. All keys of an account share its limits. */
    takeForKey: (caller: KeyCaller) => take(`account:${caller.accountId}`, caller.limits, caller),
    /** Counts a request without a valid key for its address, with the limits of the Free plan. */
    takeForAddress: (address: string) => take(addressSubject(address), freeLimits, null),
    /** Counts a request to the documentation for its address, separately from all other requests. */
    takeForReader: (address: string) => take(readerSubject(address), readerLimits, null),

    /** Returns a decision that allows the request and has the usage of its address. Counts nothing. */
    peekAddress: (address: string): Soon<Decision> =>
      after(look(address), (usage) => decide(usage, freeLimits)),

    /** Returns the 429 of an address that has used up a window. Null if the address has requests left. Counts nothing. */
    findRefusal(address: string): Soon<Decision | null> {
      return after(look(address), (usage) => {
        const hasRoom = usage.minute.used < freeLimits.perMinute && usage.day.used < freeLimits.perDay;
        return hasRoom ? null : decide({ ...usage, verdict: 'refused' }, freeLimits);
      });
    },
  };
}
