import type { AnimalStoreError } from './errors.ts';
import type { OperationName } from './operations.ts';

/** That a request is to be sent again. */
export interface Retry {
  readonly operation: OperationName;
  /** How many requests have been sent for the call so far. */
  readonly attempts: number;
  /** How long the client waits now. */
  readonly waitMs: number;
  /** Why. */
  readonly error: AnimalStoreError;
}

/**
 * How long a create is sent again of which it is open whether it has added: an hour less than the service remembers its
 * idempotency key, as it would be done a second time after that.
 */
export const openMsMax = 23 * 3_600_000;

const firstBackoffMs = 500;
const backoffMsMax = 8_000;

/** What may pass when it is sent again. A create or an order bears an idempotency key, so it is as safe as a list; a transition is so by itself. */
const transientCodes: ReadonlySet<string> = new Set([
  'connection_failed',
  'timed_out',
  'idempotency_key_in_use',
]);
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * How many milliseconds to wait before the request is sent again, at most `maxWaitMs`; null where it should not be:
 * it would fail alike, or the service asks for a longer wait. `random` is from 0 to 1.
 *
 * The service's `Retry-After` is kept to the second, never less. Whatever it does not name is exponential backoff with
 * full jitter; so is what comes on top where the service names a wait and there is cause to spread out: it is in
 * trouble, or this is a refusal after a wait, which means that others want the same room.
 */
export function planWaitMs(
  { code, status, retryAfterSeconds, attempts }: AnimalStoreError,
  maxWaitMs: number,
  random: number,
): number | null {
  if (!transientCodes.has(code) && !(status !== null && transientStatuses.has(status))) return null;
  const toldMs = (retryAfterSeconds ?? 0) * 1000;
  if (toldMs > maxWaitMs) return null;
  const isFirstRefusal = status === 429 && retryAfterSeconds !== null && attempts === 1;
  const backoffMs = isFirstRefusal
    ? 0
    : random * Math.min(backoffMsMax, firstBackoffMs * 2 ** (attempts - 1));
  return Math.min(maxWaitMs, Math.round(toldMs + backoffMs));
}
