import { readCount } from './arguments.ts';
import type { Attempt } from './debug.ts';
import { createDeprecationWatch, type Deprecation, type DeprecationWatch } from './deprecation.ts';
import { argumentError } from './errors.ts';
import type { Retry } from './retry.ts';

/** The `fetch` of the platform, or a function that replaces it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface AnimalStoreOptions {
  /**
   * The API key, `as_<env>_…`, or a function that returns it before each request. Default: the environment variable
   * `ANIMAL_STORE_KEY`.
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** The base address, with or without `/v1`. Default: the environment variable `ANIMAL_STORE_URL`. */
  readonly baseUrl?: string | URL | undefined;
  /** Maximum number of retries of a request, 0 to 100. Default: 4. */
  readonly maxRetries?: number | undefined;
  /** Maximum wait between two attempts, in ms. If `Retry-After` is longer, the call fails. Default: 60,000. */
  readonly maxWaitMs?: number | undefined;
  /** Timeout of one attempt, in ms. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The name of your program. It precedes the client's name in the `User-Agent` header. Ignored in browsers. */
  readonly userAgent?: string | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Called once for each deprecated operation that you use. Default: `console.warn` with the message. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Called after each request with the request and its result. The API key is not included. */
  readonly debug?: ((attempt: Attempt) => void) | undefined;
}

/** The validated options. Absent options have their defaults. */
export interface Settings {
  /** Throws `invalid_argument` if the function of the caller returns no key. */
  readonly readApiKey: () => Promise<string>;
  /** Has no slash at the end. */
  readonly baseUrl: string;
  readonly maxRetries: number;
  readonly maxWaitMs: number;
  readonly timeoutMs: number;
  /** Null in a browser, which sends its own header. */
  readonly userAgent: string | null;
  readonly fetch: Fetch;
  readonly deprecations: DeprecationWatch;
  readonly onRetry: (retry: Retry) => void;
  readonly debug: ((attempt: Attempt) => void) | null;
}

export const version = '1.3.0';

const ownName = `animal-store-client/${version}`;
/** The longest delay that `setTimeout` supports: 24 days. */
const timerMsMax = 2 ** 31 - 1;

/** True in a browser. A browser sends its own `User-Agent` and requires CORS. */
export const isBrowser = globalThis.navigator?.userAgent?.startsWith('Mozilla/') === true;

/**
 * Throws `invalid_argument` for the first invalid option. The message omits the value of the option, which may be the
 * API key.
 */
export function readOptions(given: AnimalStoreOptions | null | undefined): Settings {
  const options = given ?? {};
  const { userAgent = '', onDeprecation, onRetry, debug, fetch = platformFetch } = options;
  const apiKey = options.apiKey ?? readEnvironment('ANIMAL_STORE_KEY');
  if (typeof apiKey !== 'function') requireKey(apiKey);
  if (typeof userAgent !== 'string' || !/^[ -~]*$/.test(userAgent))
    throw argumentError('userAgent', 'must be a string of visible ASCII characters');
  for (const [field, callback] of Object.entries({ fetch, onDeprecation, onRetry, debug }))
    if ((callback ?? null) !== null && typeof callback !== 'function')
      throw argumentError(field, 'must be a function');
  return {
    readApiKey: async () => requireKey(typeof apiKey === 'function' ? await apiKey() : apiKey),
    baseUrl: readBaseUrl(options.baseUrl ?? readEnvironment('ANIMAL_STORE_URL')),
    maxRetries: readCount('maxRetries', options.maxRetries, 4, 0, 100),
    maxWaitMs: readCount('maxWaitMs', options.maxWaitMs, 60_000, 0, timerMsMax),
    timeoutMs: readCount('timeoutMs', options.timeoutMs, 30_000, 1, timerMsMax),
    userAgent: isBrowser ? null : `${userAgent} ${ownName}`.trim(),
    fetch: fetch ?? platformFetch,
    deprecations: createDeprecationWatch(onDeprecation ?? warn),
    onRetry: onRetry ?? (() => {}),
    debug: debug ?? null,
  };
}

/** Returns the key. Throws `invalid_argument` for anything else. */
function requireKey(key: unknown): string {
  if (key === undefined || key === '')
    throw argumentError(
      'apiKey',
      'is missing: give it as an option, or set the environment variable ANIMAL_STORE_KEY',
    );
  if (typeof key === 'string' && /^[!-~]+$/.test(key)) return key;
  throw argumentError('apiKey', 'must be an API key, as_<env>_…: visible ASCII characters without spaces');
}

/** Returns undefined in a browser. */
function readEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return process?.env?.[name];
}

function readBaseUrl(given: string | URL | undefined): string {
  if (given === undefined || given === '')
    throw argumentError(
      'baseUrl',
      'is missing: give it as an option, or set the environment variable ANIMAL_STORE_URL',
    );
  const url = parseUrl(String(given));
  if (url?.pathname === '/') url.pathname = '/v1';
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

const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);

function warn({ message }: Deprecation): void {
  console.warn(message);
}
