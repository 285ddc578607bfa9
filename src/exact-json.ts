import { randomBytes } from 'node:crypto';
import { isInt64, parseInt64Literal } from './int64.ts';

/** How deep objects and arrays may be nested. */
export const jsonDepthMax = 128;

/** How many numbers with a fraction, an exponent or more than 15 digits a text may have. Each costs a microsecond. */
export const longNumbersMax = 1_000;

/** TypeScript's library does not declare `JSON.rawJSON` yet (proposal JSON.parse source text access). */
const { rawJSON } = JSON as JSON & { rawJSON(text: string): object };

/** Finds a number that is not a plain integer of at most 15 digits. JSON.parse reads those exactly. */
const mayLoseDigits = /\d{16}|\d[.eE]/;
/** In valid JSON, matches every string, and every number with its sign, fraction and exponent. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Marks a number literal while JSON.parse reads it as a string. It is random, so no client can guess it. */
const mark = randomBytes(12).toString('base64url');

/**
 * Parses JSON without losing a digit. A number whose literal is an int64 becomes a bigint (`1.0` and `1e2` too), any
 * other stays a number. The last of repeated names counts. Throws SyntaxError if the text is not JSON. Throws
 * RangeError beyond `jsonDepthMax` and `longNumbersMax`; its message is a rule ("must …"). Linear in the length of
 * the text.
 */
export function parseExactJson(text: string): unknown {
  if (text.length > jsonDepthMax && isTooDeep(text))
    throw new RangeError(`must be nested at most ${jsonDepthMax} levels deep`);
  const value = JSON.parse(text);
  return toBigints(mayLoseDigits.test(text) ? JSON.parse(markNumbers(text)) : value);
}

/** Writes JSON with bigints as plain integers; they must be int64. Other values follow JSON.stringify. */
export function stringifyExactJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (isInt64(member) ? rawJSON(`${member}`) : member));
}

/** Puts each number that may lose digits in a string. This costs a tenth of a reviver that gets the source text. */
function markNumbers(text: string): string {
  let count = 0;
  return text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"') || !mayLoseDigits.test(token)) return token;
    count += 1;
    if (count > longNumbersMax)
      throw new RangeError(
        `must hold at most ${longNumbersMax} numbers with a fraction, an exponent or more than 15 digits`,
      );
    return `"${mark}${token}"`;
  });
}

/** Replaces integers, and marked numbers that are int64, by bigints. */
function toBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'string')
    return value.startsWith(mark) ? readLiteral(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = toBigints(members[name]);
  return value;
}

function readLiteral(literal: string): bigint | number {
  return parseInt64Literal(literal) ?? Number(literal);
}

/** `toBigints` is recursive, so this check comes first. Brackets in strings do not count. */
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
