/** The smallest int64 (contract section 1). */
export const int64Min = -(2n ** 63n);
/** The largest int64 (contract section 1). */
export const int64Max = 2n ** 63n - 1n;

const digitsMax = 19;
const plainInteger = /^-?\d{1,19}$/;
const canonicalInteger = /^(?:0|-?[1-9]\d{0,18})$/;
const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Returns true if a value is a bigint within the bounds of int64. Returns false for every number. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= int64Min && value <= int64Max;
}

/** Parses the canonical decimal form of an int64. Null for any other text, such as `007`, `+1`, `-0`, `1.0` or 2^63. */
export function parseCanonicalInt64(text: string): bigint | null {
  return canonicalInteger.test(text) ? toInt64(text) : null;
}

function toInt64(digits: string): bigint | null {
  const value = BigInt(digits);
  return isInt64(value) ? value : null;
}

/** Returns the exact int64 of a JSON number literal, such as `1.0` or `1e2`, or null. Takes linear time. */
export function parseInt64Literal(literal: string): bigint | null {
  if (plainInteger.test(literal)) return toInt64(literal);
  const [, sign, whole, fraction = '', exponent = '0'] = jsonNumber.exec(literal) ?? [];
  if (sign === undefined || whole === undefined) return null;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  if (start === digits.length) return 0n;
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const zeros = Number(exponent) - fraction.length + (digits.length - end);
  if (zeros < 0 || end - start + zeros > digitsMax) return null;
  return toInt64(sign + digits.slice(start, end) + '0'.repeat(zeros));
}
