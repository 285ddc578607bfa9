import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import { type OperationName, operations, shapes } from './generated.ts';
import type { CallOptions } from './transport.ts';

/** The options of all calls. Plain JavaScript may pass any value, so they are unknown until they are read. */
export type GivenOptions = Readonly<Record<string, unknown>>;

const timerMsMax = 2 ** 31 - 1;

/** Returns the options as an object. Throws `invalid_argument` for anything else. */
export function readObject(options: unknown): GivenOptions {
  const given = options ?? {};
  if (typeof given !== 'object') throw argumentError('options', 'must be an object');
  return given as GivenOptions;
}

/** Reads the options that every call has. Throws `invalid_argument`. */
export function readCallOptions(options: unknown): CallOptions {
  const { signal, timeoutMs, maxRetries } = readObject(options);
  if (signal !== undefined && signal !== null && !isSignal(signal))
    throw argumentError('signal', 'must be an AbortSignal');
  return {
    signal: signal ?? undefined,
    timeoutMs: readCount('timeoutMs', timeoutMs, undefined, 1, timerMsMax),
    maxRetries: readCount('maxRetries', maxRetries, undefined, 0, 100),
  };
}

/** Does not use `instanceof`, so that an AbortSignal of another realm or of a polyfill is accepted. */
function isSignal(value: unknown): value is AbortSignal {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
}

/** Returns a whole number in the range, or `fallback` if none is given. Throws `invalid_argument`. */
export function readCount<Fallback extends number | undefined>(
  field: string,
  value: unknown,
  fallback: Fallback,
  min: number,
  max: number,
): number | Fallback {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw argumentError(field, `must be a whole number from ${min} to ${max}`);
}

/**
 * Returns the given idempotency key, or a new key if none is given. Throws `invalid_argument` if the given key is
 * invalid.
 */
export function readIdempotencyKey(given: unknown): string {
  const key = given ?? createIdempotencyKey();
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return key;
  throw argumentError('idempotencyKey', 'must be a string of 1 to 255 visible ASCII characters');
}

/**
 * Returns 128 random bits as hex digits. It does not use `crypto.randomUUID`, which does not exist on pages over plain
 * HTTP.
 */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the `If-Match` header, or no header if no tag is given. Throws `invalid_argument`. */
export function readIfMatch(tag: unknown): Record<string, string> {
  if (tag === undefined || tag === null) return {};
  if (typeof tag === 'string' && /^[ -~]+$/.test(tag)) return { 'if-match': tag };
  throw argumentError('ifMatch', 'must be an ETag that the service returned');
}

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/**
 * Converts an argument to a bigint. A number must be a safe integer, because a larger number may have lost digits.
 * Throws `invalid_argument` for any other value.
 */
export function toInt64(field: string, value: unknown): bigint {
  const exact = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof exact === 'bigint' && exact >= int64Min && exact <= int64Max) return exact;
  throw argumentError(
    field,
    'must be a bigint from -2^63 to 2^63-1, or a safe integer (Number.isSafeInteger)',
  );
}

/** Returns the path of an operation with its identifier. Throws `invalid_argument`. */
export function writePath(operation: OperationName, given: unknown): string {
  const { path, id: kind } = operations[operation];
  return path.replace(/\{(\w+)\}/, (_, name: string) => {
    if (kind === 'bigint') return String(toInt64(name, given));
    if (typeof given === 'string' && /^\w{1,64}$/.test(given)) return given;
    throw argumentError(name, `must be the id of a ${name.replace('Id', '')}, a text`);
  });
}

/** Returns the query string of an operation with its `?`. Options that are not parameters are left out. */
export function writeQuery(operation: OperationName, options: GivenOptions): string {
  const query = Object.entries<string>(operations[operation].query).map(([name, kind]) => {
    const value = options[name] ?? undefined;
    if (value === undefined || !kind.startsWith('bigint')) return [name, value] as const;
    if (kind === 'bigint') return [name, toInt64(name, value)] as const;
    if (!Array.isArray(value)) throw argumentError(name, 'must be an array of identifiers');
    return [name, value.map((one) => toInt64(name, one)).join()] as const;
  });
  return formatQuery(Object.fromEntries(query));
}

/** Returns the query string with its `?`, or an empty string if no value is given. */
export function formatQuery(given: GivenOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}

/** Returns the JSON of the body of an operation. Throws `invalid_argument` if an int64 in it is not exact. */
export function writeOperationBody(shape: keyof typeof shapes, value: unknown): string {
  const name = shape.charAt(0).toLowerCase() + shape.slice(1);
  if (typeof value !== 'object' || value === null) throw argumentError(name, 'must be an object');
  const body: Record<string, unknown> = { ...value };
  for (const [field, kind] of Object.entries<string>(shapes[shape]))
    if (kind === 'bigint' || (kind === 'bigint?' && body[field] !== undefined))
      body[field] = toInt64(field, body[field]);
  return writeBody(name, body);
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
