import type { AnimalStoreError } from './errors.ts';
import type { OperationName } from './operations.ts';

/** A planned repetition of a request. */
export interface Retry {
  /** Null for an operation that this version of the client does not know. */
  readonly operation: OperationName | null;
  /** How many requests were sent for the call so far. */
  readonly attempts: number;
  /** How long the client waits now, in milliseconds. */
  readonly waitMs: number;
  /** The error of the last attempt. */
  readonly error: AnimalStoreError;
}

/**
 * How long an addition with an unknown result is repeated. The service remembers the idempotency key one hour longer.
 * After that, a repetition would add again.
 */
export const openMsMax = 23 * 3_600_000;

const firstBackoffMs = 500;
const backoffMsMax = 8_000;

/**
 * Failures that may pass. A create or an order has an idempotency key and a transition is idempotent, so repeating them
 * is as safe as repeating a list.
 */
const transientCodes: ReadonlySet<string> = new Set([
  'connection_failed',
  'timed_out',
  'idempotency_key_in_use',
]);
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * How many milliseconds to wait before the request is repeated, at most `maxWaitMs`. Null if it should not be repeated:
 * it would fail again, or the service asks for a longer wait. `random` is from 0 to 1.
 *
 * The client waits at least as long as `Retry-After` says. Without it, the wait is exponential backoff with full
 * jitter. The backoff is added to `Retry-After` after a 5xx and after a second refusal, when many clients may compete.
 */
export function planWaitMs(
  { code, status, retryAfterSeconds, attempts }: AnimalStoreError,
  maxWaitMs: number,
  random: number,
): number | null {
  if (!transientCodes.has(code) && !(status !== null && transientStatuses.has(status))) return null;
  const askedMs = (retryAfterSeconds ?? 0) * 1000;
  if (askedMs > maxWaitMs) return null;
  const isFirstRefusal = status === 429 && retryAfterSeconds !== null && attempts === 1;
  const backoffMs = isFirstRefusal
    ? 0
    : random * Math.min(backoffMsMax, firstBackoffMs * 2 ** (attempts - 1));
  return Math.min(maxWaitMs, Math.round(askedMs + backoffMs));
}
