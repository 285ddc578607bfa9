import { type Clock, secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Decision } from '../limits/rules/decision.ts';
import type { Soon } from '../soon.ts';
import type { KeyVerifier, Verification } from './key-verifier.ts';

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

/** The caller of a key, the reason for a refusal, or a 429 because the address has used up its rate limit. */
export type LookedUp = Verification | { readonly decision: Decision };

/** Verifies keys. Bounds the look-ups of unknown keys, to keep the store free for known callers. */
export type KeyLookup = ReturnType<typeof createKeyLookup>;

/** Creates look-ups with their own lane. `findRefusal` returns the 429 of an address that has used up its rate limit, or null. */
export function createKeyLookup(options: {
  readonly verifier: Pick<KeyVerifier, 'recall' | 'isKnown' | 'verify'>;
  readonly findRefusal: (address: string) => Soon<Decision | null>;
  readonly clock: Clock;
}) {
  const { verifier, findRefusal, clock } = options;
  const turns = createTurns(lane.runningMax);

  async function lookUp(text: string, address: string): Promise<LookedUp> {
    const sinceMs = clock();
    // Nothing is awaited between this count and the place in the lane, so that simultaneous requests do not pass together.
    const isBeyond = turns.countWaiting() >= lane.spentMax;
    const refusal = isBeyond ? await findRefusal(address) : null;
    if (refusal !== null) return { decision: refusal };
    if (turns.countWaiting() >= lane.waitingMax) throw overloaded();
    await turns.take();
    try {
      if (verifier.isKnown(text)) return await verifier.verify(text);
      // Failed look-ups may have used up the rate limit of the address in the meantime.
      const lateRefusal = isBeyond ? await findRefusal(address) : null;
      if (lateRefusal !== null) return { decision: lateRefusal };
      if (clock() - sinceMs > lane.waitMsMax) throw overloaded();
      return await verifier.verify(text);
    } finally {
      turns.end();
    }
  }

  return {
    /**
     * Verifies a key that came from an address:
     *
     * - A remembered result or a refusal without a query is returned at once, as a plain value.
     * - A known key (found valid within the last hour) is read at once.
     * - The look-ups of all other keys wait in one lane, in the order of their arrival. If `spentMax` look-ups wait on
     *   arrival, and the address has used up its rate limit by its turn, the result is a 429 without a query.
     *
     * Fails with AppError `unavailable` if the key cannot be read, or if the lane is full or too slow.
     */
    verify(text: string, address: string): Soon<LookedUp> {
      const remembered = verifier.recall(text);
      if (remembered !== null) return remembered;
      return verifier.isKnown(text) ? verifier.verify(text) : lookUp(text, address);
    },
    /** Verifies the key of an admitted request again, without the lane. */
    verifyAgain: (text: string): Soon<Verification> => verifier.recall(text) ?? verifier.verify(text),
  };
}

/** Turns that at most `runningMax` callers have at once. The others wait in the order of their arrival. */
function createTurns(runningMax: number) {
  const waiting: (() => void)[] = [];
  let running = 0;

  return {
    countWaiting: () => waiting.length,
    async take(): Promise<void> {
      if (running < runningMax) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    /** Passes the turn on to the next caller. */
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
