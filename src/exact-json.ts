import { isInt64, parseInt64Literal } from './int64.ts';

/** How deep objects and arrays may stand in each other. */
export const jsonDepthMax = 128;

/** What ECMAScript has and the compiler's library does not know yet (proposal JSON.parse source text access). */
const { rawJSON } = JSON as JSON & { rawJSON(text: string): object };

/** Finds a number that may be more than a plain integer of 15 digits, which JSON.parse reads exactly by itself. */
const mayLoseDigits = /\d{16}|\d[.eE]/;

/**
 * Reads JSON without losing a digit: a number whose literal is an int64 becomes a bigint (`1.0` and `1e2` too), any
 * other stays a number. Of repeated names the last counts. Throws SyntaxError for text that is no JSON and RangeError
 * for nesting deeper than `jsonDepthMax`. Linear in the text's length.
 */
export function parseExactJson(text: string): unknown {
  if (text.length > jsonDepthMax && isTooDeep(text))
    throw new RangeError(`JSON may be nested ${jsonDepthMax} levels deep at most`);
  return mayLoseDigits.test(text) ? JSON.parse(text, reviveInt64) : toBigints(JSON.parse(text));
}

/** Writes JSON with bigints as plain integers; they must be int64. What JSON has no form for is as in JSON.stringify. */
export function stringifyExactJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (isInt64(member) ? rawJSON(`${member}`) : member));
}

/** Puts bigints in the place of numbers that are integers: a third of the cost of a reviver. */
function toBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member === 'number' || typeof member === 'object') members[name] = toBigints(member);
  }
  return value;
}

function reviveInt64(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return parseInt64Literal(context.source) ?? value;
}

/** The reviver's walk is recursive: nesting is bounded before it begins. Brackets in strings do not count. */
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
