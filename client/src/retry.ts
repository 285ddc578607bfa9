import type { AnimalStoreError } from './errors.ts';
import type { OperationName } from './generated.ts';

/** A planned retry of a request. */
export interface Retry {
  /** Null if this version of the client does not know the operation. */
  readonly operation: OperationName | null;
  /** Number of requests sent for the call so far. */
  readonly attempts: number;
  /** Milliseconds until the retry. */
  readonly waitMs: number;
  /** The error of the last attempt. */
  readonly error: AnimalStoreError;
}

/**
 * Time in ms for which a POST with an unknown result is retried. The service keeps the idempotency key one hour longer.
 * After that, a retry could have a second effect.
 */
export const openMsMax = 23 * 3_600_000;

const firstBackoffMs = 500;
const backoffMsMax = 8_000;

/** Operations whose response has a new secret. The service ignores an idempotency key, so a retry creates another. */
export const secretOperations: ReadonlySet<OperationName> = new Set([
  'createKey',
  'rotateKey',
  'createWebhook',
  'rotateWebhookSecret',
]);

/**
 * Codes of failures that may be temporary. A retry is safe: creates and orders have an idempotency key, changes of an
 * order's status are idempotent. `isOnce` and `secretOperations` protect all other requests.
 */
const transientCodes: ReadonlySet<string> = new Set([
  'connection_failed',
  'timed_out',
  'idempotency_key_in_use',
]);
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Returns the milliseconds until the retry, at most `maxWaitMs`. Returns null if a retry is useless: the failure is
 * permanent, or `Retry-After` is longer than `maxWaitMs`. `random` is from 0 to 1.
 *
 * The wait is `Retry-After` plus exponential backoff with full jitter. The first 429 with `Retry-After` needs no
 * backoff. After a 5xx or a second 429, the backoff spreads the clients that compete.
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
