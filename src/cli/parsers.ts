import { InvalidArgumentError } from 'commander';
import { accountNameRule, isAccountName, parseScopes, type Scope } from '../accounts/account.ts';
import { readDuration, readTime, timeRule } from '../format.ts';
import { int64Max, int64Min, parseCanonicalInt64 } from '../int64.ts';
import { isReference } from '../orders/order.ts';

/** Returns a parser of commander, which fails with `rule` if `read` returns null. */
export function parserOf<T>(read: (text: string) => T | null, rule: string): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(rule);
    return value;
  };
}

/** Parses a duration such as `0`, `90s`, `15m`, `24h`, `30d` or `2w` to milliseconds. */
export const parseDuration = parserOf(
  readDuration,
  'It must be a whole number with the unit s, m, h, d or w, as in 30d, and at most 100 years.',
);

export const parseLifetime = parserOf(
  (text) => parseDuration(text) || null,
  'It must be at least one second.',
);

/** Parses a time to Unix milliseconds. */
export const parseTime = parserOf(readTime, `It must be ${timeRule}.`);

export function parseScopeList(text: string): readonly Scope[] {
  const parsed = parseScopes(text);
  if ('problem' in parsed) throw new InvalidArgumentError(`The ${parsed.problem}.`);
  return parsed;
}

export const parseAccountName = parserOf(
  (text) => (isAccountName(text) ? text : null),
  `${accountNameRule.replace(/^a/, 'A')}.`,
);

/** Parses a label or a reference, which follow the rules of an animal's name. */
export const parseName = parserOf(
  (text) => (isReference(text) ? text : null),
  'It must have 1 to 255 characters, not only white space, and no control characters.',
);

export function parseCountUpTo(max: number): (text: string) => number {
  const read = (text: string) => (/^[1-9]\d{0,12}$/.test(text) && Number(text) <= max ? Number(text) : null);
  return parserOf(read, `It must be a whole number from 1 to ${max}.`);
}

export const parseInt64Id = parserOf(parseCanonicalInt64, 'It must be an id in decimal digits.');

const int64Rule = `It must be a whole number from ${int64Min} to ${int64Max}.`;
export const parseInt64 = parserOf(parseCanonicalInt64, int64Rule);
