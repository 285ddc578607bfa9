import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions } from './transport.ts';

/**
 * The result of a call with the metadata of its answer. `response` is not enumerable, so it is neither copied nor
 * written as JSON.
 */
export type WithResponse<T> = T & { readonly response: ResponseInfo };

/** Reads the options of a call. Plain JavaScript may pass any value. */
export function readCallOptions<T extends CallOptions>(options: T | null | undefined): Partial<T> {
  const given: unknown = options ?? {};
  if (typeof given !== 'object') throw argumentError('options', 'must be an object');
  const { signal } = given as { signal?: unknown };
  if (signal !== undefined && signal !== null && !isSignal(signal))
    throw argumentError('signal', 'must be an AbortSignal');
  return given as Partial<T>;
}

/** Accepts an AbortSignal of any realm or package. */
function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
}

/** Returns the given idempotency key, or creates one. */
export function readIdempotencyKey(given: string | null | undefined): string {
  const key = given ?? createIdempotencyKey();
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return key;
  throw argumentError('idempotencyKey', 'must be a string of 1 to 255 visible ASCII characters');
}

/** Writes the given values as a query string. Empty if there are none. */
export function writeQuery(given: Readonly<Record<string, string | number | bigint | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}

/** Creates a key of 128 random bits. `crypto.randomUUID` does not exist on pages over plain HTTP. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Attaches the metadata of the answer to its value. */
export function attachResponse<T extends object>({
  value,
  response,
}: {
  value: T;
  response: ResponseInfo;
}): WithResponse<T> {
  return Object.defineProperty(value, 'response', { value: response }) as WithResponse<T>;
}

/** Writes a body as JSON. Throws `invalid_argument` for a value that is not an object or cannot be JSON. */
export function writeBody(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) throw argumentError(name, 'must be an object');
  try {
    return stringifyExactJson(value);
  } catch {
    throw argumentError(name, 'must be possible to write as JSON, without circular references');
  }
}

/** Whether an answer confirms a deletion. */
export function isDeleted(value: unknown, status: number): value is undefined {
  return value === undefined && status === 204;
}
