import { createDeprecationWatch, type Deprecation, type DeprecationWatch } from './deprecation.ts';
import { argumentError } from './errors.ts';
import type { Retry } from './retry.ts';

/** What sends a request: the `fetch` of the platform, or what wraps it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface AnimalStoreOptions {
  /** The API key, `as_<env>_…`. */
  readonly apiKey: string;
  /** The base address, ending in `/v1`. */
  readonly baseUrl: string | URL;
  /** How often a request is sent again at most: 0 to 100, and 4 unless it is given. */
  readonly maxRetries?: number | undefined;
  /** The longest wait between two attempts, in milliseconds; a service that asks for more fails the call. 60,000. */
  readonly maxWaitMs?: number | undefined;
  /** How long one attempt may take, in milliseconds. 30,000. */
  readonly timeoutMs?: number | undefined;
  /** What names your program to the service, before the client's own name; browsers keep theirs. */
  readonly userAgent?: string | undefined;
  /** Takes the place of the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Called once for each deprecated operation that is used; unless it is given, `console.warn` is. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Called before each wait for another attempt. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** The options, checked and filled in. */
export interface Settings {
  readonly apiKey: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly maxRetries: number;
  readonly maxWaitMs: number;
  readonly timeoutMs: number;
  /** Null where the browser's own is kept. */
  readonly userAgent: string | null;
  readonly fetch: Fetch;
  readonly deprecations: DeprecationWatch;
  readonly onRetry: (retry: Retry) => void;
}

/** The version of this package. */
export const version = '1.0.0';

const ownName = `animal-store-client/${version}`;
/** What the timers of all platforms can wait for: 24 days. */
const timerMsMax = 2 ** 31 - 1;

/** Whether a browser runs this: it keeps its own `User-Agent`, and asks the service before it sends to it. */
export const isBrowser = globalThis.navigator?.userAgent?.startsWith('Mozilla/') === true;

/** Throws `invalid_argument` for the first option that breaks its rule; never shows the value, as it may be the key. */
export function readOptions(options: AnimalStoreOptions): Settings {
  const { apiKey, userAgent = '' } = options ?? {};
  const fetch = options?.fetch ?? platformFetch;
  if (typeof apiKey !== 'string' || !/^[!-~]+$/.test(apiKey))
    throw argumentError('apiKey', 'must be an API key, as_<env>_…: visible ASCII characters without blanks');
  if (typeof userAgent !== 'string' || !/^[ -~]*$/.test(userAgent))
    throw argumentError('userAgent', 'must be a text of visible ASCII characters');
  const { onDeprecation, onRetry } = options;
  for (const [field, callback] of Object.entries({ fetch, onDeprecation, onRetry }))
    if ((callback ?? null) !== null && typeof callback !== 'function')
      throw argumentError(field, 'must be a function');
  return {
    apiKey,
    baseUrl: readBaseUrl(options.baseUrl),
    maxRetries: readCount('maxRetries', options.maxRetries, 4, 0, 100),
    maxWaitMs: readCount('maxWaitMs', options.maxWaitMs, 60_000, 0, timerMsMax),
    timeoutMs: readCount('timeoutMs', options.timeoutMs, 30_000, 1, timerMsMax),
    userAgent: isBrowser ? null : `${userAgent} ${ownName}`.trim(),
    fetch,
    deprecations: createDeprecationWatch(onDeprecation ?? warn),
    onRetry: onRetry ?? (() => {}),
  };
}

function readBaseUrl(given: string | URL): string {
  const url = parseUrl(String(given));
  const isBase = url !== null && /^https?:$/.test(url.protocol) && /\/v1\/?$/.test(url.pathname);
  if (!isBase || /[?#]/.test(url.href) || url.username !== '' || url.password !== '')
    throw argumentError(
      'baseUrl',
      'must be an http or https address that ends in /v1, without query, fragment or password, such as https://api.example.com/v1',
    );
  return url.href.replace(/\/$/, '');
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function readCount(
  field: string,
  value: number | undefined,
  fallback: number,
  min: number,
  max: number,
): number {
  const count = value ?? fallback;
  if (Number.isInteger(count) && count >= min && count <= max) return count;
  throw argumentError(field, `must be a whole number from ${min} to ${max}`);
}

const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);

function warn({ message }: Deprecation): void {
  console.warn(message);
}
