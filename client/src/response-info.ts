/** The window of the limits with the fewest requests left. */
export interface RateLimit {
  /** The number of requests allowed in the window. */
  readonly limit: number;
  /** The number of requests left. */
  readonly remaining: number;
  /** When the window ends, in Unix seconds. */
  readonly resetAtSeconds: number;
}

/** The metadata of an answer. */
export interface ResponseInfo {
  readonly status: number;
  /** The id by which the operator finds the request. */
  readonly requestId: string | null;
  readonly rateLimit: RateLimit | null;
  /** Whether this is the stored answer to an earlier attempt, or to an earlier call with the same `idempotencyKey`. */
  readonly replayed: boolean;
  /** How many requests were sent for the call. */
  readonly attempts: number;
  /** All headers as they were received. */
  readonly headers: Headers;
}

export function readResponseInfo({ status, headers }: Response, attempts: number): ResponseInfo {
  return {
    status,
    requestId: headers.get('x-request-id'),
    rateLimit: readRateLimit(headers),
    replayed: headers.get('idempotent-replayed') === 'true',
    attempts,
    headers,
  };
}

function readRateLimit(headers: Headers): RateLimit | null {
  const limit = readWhole(headers.get('x-ratelimit-limit'));
  const remaining = readWhole(headers.get('x-ratelimit-remaining'));
  const resetAtSeconds = readWhole(headers.get('x-ratelimit-reset'));
  if (limit === null || remaining === null || resetAtSeconds === null) return null;
  return { limit, remaining, resetAtSeconds };
}

/**
 * Reads `Retry-After` in whole seconds. Proxies may send its other form, a date (RFC 9110). Null without the header.
 */
export function readRetryAfter(headers: Headers, nowMs: number): number | null {
  const text = headers.get('retry-after');
  const seconds = readWhole(text);
  if (text === null || seconds !== null) return seconds;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

function readWhole(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
