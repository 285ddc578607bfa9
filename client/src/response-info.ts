/** The rate limit window with the fewest remaining requests. */
export interface RateLimit {
  /** Number of requests allowed in the window. */
  readonly limit: number;
  /** Number of requests left in the window. */
  readonly remaining: number;
  /** Time at which the window resets, in Unix seconds. */
  readonly resetAtSeconds: number;
}

/** The metadata of a response. */
export interface ResponseInfo {
  readonly status: number;
  /** The `X-Request-Id`. With it, the operator finds the request in the log. */
  readonly requestId: string | null;
  /** The `ETag`. That of an animal is its `ifMatch`. Null if the response has none. */
  readonly etag: string | null;
  readonly rateLimit: RateLimit | null;
  /** True if this is the stored response to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** Number of requests sent for the call. */
  readonly attempts: number;
  readonly headers: Headers;
}

export function readResponseInfo({ status, headers }: Response, attempts: number): ResponseInfo {
  return {
    status,
    requestId: headers.get('x-request-id'),
    etag: headers.get('etag'),
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
 * Returns `Retry-After` in whole seconds. Null if the header is absent or invalid. A proxy may send an HTTP date
 * instead of seconds (RFC 9110).
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

/** Matches each link of a `Link` header (RFC 8288) with its parameters. */
const links = /<([^>]*)>((?:[^,"]|"[^"]*")*)/g;
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i;

/** Returns the target of the first link with this relation, or null. */
export function findLink(headers: Headers, wanted: string): string | null {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, plain] = relation.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes(wanted)) return target;
  }
  return null;
}
