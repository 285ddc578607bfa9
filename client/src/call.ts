import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions } from './transport.ts';

/** What a call gave, with what its answer told besides. `response` is not enumerable: neither copied nor written as JSON. */
export type WithResponse<T> = T & { readonly response: ResponseInfo };

/** The options of a call; none where they are left out or null. Plain JavaScript may give anything. */
export function readCallOptions<T extends CallOptions>(options: T | null | undefined): Partial<T> {
  const given: unknown = options ?? {};
  if (typeof given !== 'object') throw argumentError('options', 'must be an object');
  const { signal } = given as { signal?: unknown };
  if (signal !== undefined && signal !== null && !isSignal(signal))
    throw argumentError('signal', 'must be an AbortSignal');
  return given as Partial<T>;
}

/** Of whatever realm or package it is. */
function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
}

/** The key that names one creation; made anew where none is given. */
export function readIdempotencyKey(given: string | null | undefined): string {
  const key = given ?? createIdempotencyKey();
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return key;
  throw argumentError('idempotencyKey', 'must be a string of 1 to 255 visible ASCII characters');
}

/** A query with what is given, as it stands behind a path; empty where nothing is. */
export function writeQuery(given: Readonly<Record<string, string | number | bigint | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}

/** 128 random bits. `crypto.randomUUID` is not there on pages that came over plain HTTP. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Puts the answer beside its value. */
export function attachResponse<T extends object>({
  value,
  response,
}: {
  value: T;
  response: ResponseInfo;
}): WithResponse<T> {
  return Object.defineProperty(value, 'response', { value: response }) as WithResponse<T>;
}

/** A body as it is sent. Throws `invalid_argument` for what is no object, or what JSON cannot say. */
export function writeBody(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) throw argumentError(name, 'must be an object');
  try {
    return stringifyExactJson(value);
  } catch {
    throw argumentError(name, 'must be what JSON can say: nothing in it may hold itself');
  }
}

/** Whether an answer says that something is deleted. */
export function isDeleted(value: unknown, status: number): value is undefined {
  return value === undefined && status === 204;
}
