import { type Clock, secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { addressSubject } from '../limits/rules/address.ts';
import type { Decision } from '../limits/rules/decision.ts';
import { after, type Soon } from '../soon.ts';
import type { KeyVerifier, Verification } from './key-verifier.ts';
import { createLane, type LaneBounds, sentAway } from './lane.ts';

/** The lane for unknown keys from addresses with count left. Its queue has room for every connection. */
export const strangersLane: LaneBounds = {
  runningMax: 2,
  waitingMax: 20_000,
  waitingPerAddressMax: 20_000,
};
/** The lane for unknown keys from addresses with no count left. */
export const spentLane: LaneBounds = { runningMax: 1, waitingMax: 100, waitingPerAddressMax: 10 };
/** The longest wait of a look-up for its turn. Checked when the turn comes. */
export const lookUpWaitMsMax = 5 * secondMs;

/** The caller of a key, why it has none, or the 429 of an address whose key was not looked up. */
export type LookedUp = Verification | { readonly decision: Decision };

/** Verifies keys, and keeps unknown keys from using the store's capacity for known callers (contract section 6). */
export interface KeyLookup {
  /**
   * Returns a plain value for a remembered key and for a 429. A known key is read at once. Any other key waits in the
   * lane of strangers. If the count of its address is used up, it waits in a smaller lane. If that lane is full, the
   * answer is 429 without a query.
   *
   * A key that becomes known while it waits is read, however late. Fails with AppError `unavailable` if the key cannot
   * be read, or not in time.
   */
  verify(text: string, address: string): Soon<LookedUp>;
}

/** The dependencies of key look-ups. */
export interface KeyLookupOptions {
  readonly verifier: Pick<KeyVerifier, 'recall' | 'isKnown' | 'verify'>;
  /** The 429 of an address whose count is used up, or null (limiter.ts). */
  readonly findRefusal: (address: string) => Soon<Decision | null>;
  readonly clock: Clock;
}

/** Creates look-ups with lanes of their own. An instance uses at most three connections to PostgreSQL for them. */
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
      // Look-ups that failed since then may have used up the count. Then the whole queue of the address leaves the lane.
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
  };
}

function overloaded(): AppError {
  return new AppError('unavailable', 'too many unknown API keys wait to be looked up; try again');
}
