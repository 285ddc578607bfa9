import { argumentError } from './errors.ts';

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/**
 * A value that is given for an int64, exactly. A number is taken only where it is a safe integer: a larger one has
 * lost digits before it came here. Throws `invalid_argument` for all else.
 */
export function toInt64(field: string, value: unknown): bigint {
  const exact = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof exact === 'bigint' && exact >= int64Min && exact <= int64Max) return exact;
  throw argumentError(
    field,
    'must be a bigint from -2^63 to 2^63-1, or a number that Number.isSafeInteger is true for',
  );
}
