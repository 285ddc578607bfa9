import { type Clock, secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { addressSubject } from '../limits/rules/address.ts';
import type { Decision } from '../limits/rules/decision.ts';
import { after, type Soon } from '../soon.ts';
import type { KeyVerifier, Verification } from './key-verifier.ts';
import { createLane, type LaneBounds, sentAway } from './lane.ts';

/** The lane for unknown keys from addresses within their rate limit. It has room for one lookup per connection. */
export const strangersLane: LaneBounds = {
  runningMax: 2,
  waitingMax: 20_000,
  waitingPerAddressMax: 20_000,
};
/** Bounds of the lane for unknown keys from addresses that have used up their rate limit. */
export const spentLane: LaneBounds = { runningMax: 1, waitingMax: 100, waitingPerAddressMax: 10 };
/** Maximum time in ms that a lookup may wait for its turn. Checked when the turn comes. */
export const lookUpWaitMsMax = 5 * secondMs;

/** The caller of a key, the reason for a refusal, or a 429 because the address has used up its rate limit. */
export type LookedUp = Verification | { readonly decision: Decision };

/** Verifies keys. Limits lookups of unknown keys, to keep the store free for known callers (contract section 6). */
export interface KeyLookup {
  /**
   * Verifies a key that came from an address:
   *
   * - A remembered result or a refusal without a query is returned at once, as a plain value.
   * - A known key (found valid within the last hour) is read at once.
   * - An unknown key waits in `strangersLane` if its address is within the rate limit.
   * - An unknown key waits in the smaller `spentLane` if its address has used up the rate limit. If `spentLane` is full
   *   or the wait was too long, the result is a 429.
   *
   * If another lookup finds the key valid during the wait, the key is read even after `lookUpWaitMsMax`. Fails with
   * AppError `unavailable` if the key cannot be read, or if `strangersLane` is full or too slow.
   */
  verify(text: string, address: string): Soon<LookedUp>;
  /**
   * Verifies the key of an admitted request again. The key is read without a lane, because it was valid when the
   * request was admitted.
   */
  verifyAgain(text: string): Soon<Verification>;
}

/** The dependencies of key lookups. */
export interface KeyLookupOptions {
  readonly verifier: Pick<KeyVerifier, 'recall' | 'isKnown' | 'verify'>;
  /** Returns the 429 of an address that has used up its rate limit, or null (limiter.ts). */
  readonly findRefusal: (address: string) => Soon<Decision | null>;
  readonly clock: Clock;
}

/** Creates lookups with their own lanes. One instance uses at most three PostgreSQL connections for unknown keys. */
export function createKeyLookup({ verifier, findRefusal, clock }: KeyLookupOptions): KeyLookup {
  const strangers = createLane(strangersLane);
  const spent = createLane(spentLane);

  function find(text: string, address: string, sinceMs: number): Soon<LookedUp> {
    const remembered = verifier.recall(text);
    if (remembered !== null) return remembered;
    return verifier.isKnown(text) ? verifier.verify(text) : lookUp(text, address, sinceMs);
  }

  function lookUp(text: string, address: string, sinceMs: number): Soon<LookedUp> {
    return after(findRefusal(address), (refusal) =>
      refusal === null ? asStranger(text, address, sinceMs) : asSpent(text, address, sinceMs, refusal),
    );
  }

  async function asStranger(text: string, address: string, sinceMs: number): Promise<LookedUp> {
    const subject = addressSubject(address);
    const found = strangers.run(subject, async () => {
      if (verifier.isKnown(text)) return verifier.verify(text);
      // Lookups that failed in the meantime may have used up the rate limit of the address. If so, all waiting lookups
      // of the address leave this lane.
      const isSpent = (await findRefusal(address)) !== null;
      if (isSpent) strangers.sendAway(subject);
      else if (isLate(sinceMs)) throw overloaded();
      return isSpent ? sentAway : verifier.verify(text);
    });
    if (found === null) throw overloaded();
    const result = await found;
    return result === sentAway ? find(text, address, sinceMs) : result;
  }

  function asSpent(text: string, address: string, sinceMs: number, decision: Decision): Soon<LookedUp> {
    const found = spent.run<LookedUp>(addressSubject(address), async () =>
      isLate(sinceMs) && !verifier.isKnown(text) ? { decision } : verifier.verify(text),
    );
    if (found === null) return { decision };
    return found.then((result) => (result === sentAway ? { decision } : result));
  }

  function isLate(sinceMs: number): boolean {
    return clock() - sinceMs > lookUpWaitMsMax;
  }

  return {
    verify: (text, address) => find(text, address, clock()),
    verifyAgain: verifier.verify,
  };
}

function overloaded(): AppError {
  return new AppError('unavailable', 'too many unknown API keys are waiting for a lookup; try again');
}
