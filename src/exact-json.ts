import { randomBytes } from 'node:crypto';
import { isInt64, parseInt64Literal } from './int64.ts';

/** Maximum nesting depth of objects and arrays. */
export const jsonDepthMax = 128;

/** Maximum count of numbers with a fraction, an exponent or more than 15 digits. Each takes a microsecond to parse. */
export const longNumbersMax = 1_000;

/** TypeScript's library does not declare `JSON.rawJSON` (proposal "JSON.parse source text access"). */
const { rawJSON } = JSON as JSON & { rawJSON(text: string): object };

/** Matches a number that JSON.parse may not read exactly. It reads plain integers of at most 15 digits exactly. */
const mayLoseDigits = /\d{16}|\d[.eE]/;
/** Matches every string and every number in valid JSON. A number includes its sign, fraction and exponent. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Prefix of a number literal that JSON.parse reads as a string. It is random, so that no client can guess it. */
const mark = randomBytes(12).toString('base64url');

/**
 * Parses JSON without losing digits. A number whose literal is an int64, which includes `1.0` and `1e2`, becomes a bigint.
 * `readOther` gets the literal of any other number. If a name is repeated, the last value counts.
 *
 * Throws SyntaxError if the text is not JSON, and RangeError beyond `jsonDepthMax` or `longNumbersMax`, whose message is a
 * rule ("must …"). The time is linear in the length of the text.
 */
export function parseExactJson(text: string, readOther: (literal: string) => unknown = Number): unknown {
  if (text.length > jsonDepthMax && isTooDeep(text))
    throw new RangeError(`must be nested at most ${jsonDepthMax} levels deep`);
  const value = JSON.parse(text);
  return toBigints(mayLoseDigits.test(text) ? JSON.parse(markNumbers(text)) : value, readOther);
}

/** For `parseExactJson`: keeps a number as it is written, for `stringifyExactJson`. `1e400` stays `1e400`. */
export const keepLiteral: (literal: string) => unknown = rawJSON;

/** Writes JSON with bigints as plain integers. Every bigint must be an int64. Other values follow JSON.stringify. */
export function stringifyExactJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (isInt64(member) ? rawJSON(`${member}`) : member));
}

/** Turns each number that may lose digits into a marked string, in a tenth of the time of a reviver with source text. */
function markNumbers(text: string): string {
  let count = 0;
  return text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"') || !mayLoseDigits.test(token)) return token;
    count += 1;
    if (count > longNumbersMax)
      throw new RangeError(
        `must contain at most ${longNumbersMax} numbers with a fraction, an exponent or more than 15 digits`,
      );
    return `"${mark}${token}"`;
  });
}

/** Replaces numbers by bigints, and each marked number that is not an int64 by what `readOther` returns. */
function toBigints(value: unknown, readOther: (literal: string) => unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value;
    const literal = value.slice(mark.length);
    return parseInt64Literal(literal) ?? readOther(literal);
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = toBigints(members[name], readOther);
  return value;
}

/** Protects `toBigints`, which is recursive, from a stack overflow. Brackets in strings do not count. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') quoted = !quoted;
    else if (quoted) index += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > jsonDepthMax) return true;
  }
  return false;
}
