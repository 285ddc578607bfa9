/** How the window of the limits stands that has the fewest requests left. */
export interface RateLimit {
  /** The requests that it lets through. */
  readonly limit: number;
  /** Those that are left. */
  readonly remaining: number;
  /** When it ends, in Unix seconds. */
  readonly resetAtSeconds: number;
}

/** What an answer tells besides its body. */
export interface ResponseInfo {
  readonly status: number;
  /** What the operator finds the request by. */
  readonly requestId: string | null;
  readonly rateLimit: RateLimit | null;
  /** Whether an earlier attempt, or an earlier call with the same `idempotencyKey`, had done what was asked already. */
  readonly replayed: boolean;
  /** How many requests were sent for the call. */
  readonly attempts: number;
  /** All headers, as they came. */
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

/** `Retry-After` in whole seconds (RFC 9110 has a date as its other form, which proxies send); null without one. */
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
