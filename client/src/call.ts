import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions } from './transport.ts';

/**
 * The result of a call. `response` is the metadata of the HTTP response. It is not enumerable, so copies and JSON omit
 * it.
 */
export type WithResponse<T> = T & { readonly response: ResponseInfo };

/** Validates the options of a call, because plain JavaScript may pass any value. Throws `invalid_argument`. */
export function readCallOptions<T extends CallOptions>(options: T | null | undefined): Partial<T> {
  const given: unknown = options ?? {};
  if (typeof given !== 'object') throw argumentError('options', 'must be an object');
  const { signal } = given as { signal?: unknown };
  if (signal !== undefined && signal !== null && !isSignal(signal))
    throw argumentError('signal', 'must be an AbortSignal');
  return given as Partial<T>;
}

/** Does not use `instanceof`, so that an AbortSignal of another realm or of a polyfill is accepted. */
function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
}

/**
 * Returns the given idempotency key, or a new key if none is given. Throws `invalid_argument` if the given key is
 * invalid.
 */
export function readIdempotencyKey(given: string | null | undefined): string {
  const key = given ?? createIdempotencyKey();
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return key;
  throw argumentError('idempotencyKey', 'must be a string of 1 to 255 visible ASCII characters');
}

/** Returns the query string with its `?`, or an empty string if no value is given. */
export function writeQuery(given: Readonly<Record<string, string | number | bigint | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}

/**
 * Returns 128 random bits as hex digits. It does not use `crypto.randomUUID`, which does not exist on pages over plain
 * HTTP.
 */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function attachResponse<T extends object>({
  value,
  response,
}: {
  value: T;
  response: ResponseInfo;
}): WithResponse<T> {
  return Object.defineProperty(value, 'response', { value: response }) as WithResponse<T>;
}

/**
 * Returns the value as JSON. Throws `invalid_argument` if the value is not an object or cannot be written as JSON.
 * `name` is the name of the argument in the message.
 */
export function writeBody(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) throw argumentError(name, 'must be an object');
  try {
    return stringifyExactJson(value);
  } catch {
    throw argumentError(name, 'must be serializable as JSON, without circular references');
  }
}

export function isDeleted(value: unknown, status: number): value is undefined {
  return value === undefined && status === 204;
}
