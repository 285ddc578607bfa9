import { argumentError } from './errors.ts';

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
