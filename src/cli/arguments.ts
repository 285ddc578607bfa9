import { type Command, InvalidArgumentError, Option } from 'commander';
import { accountNameRule, isAccountName, parseScopes, type Scope } from '../accounts/account.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../clock.ts';
import { int64Max, int64Min, parseCanonicalInt64 } from '../int64.ts';
import { isReference } from '../orders/order.ts';
import {
  type CustomNumbers,
  limitMax,
  openHoldsMax,
  type Plan,
  planNames,
  resolvePlan,
} from '../plans/plan.ts';

const unitMs = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };
const durationMsMax = 100 * 365 * dayMs;

/**
 * Returns the milliseconds of a duration such as `0`, `90s`, `15m`, `24h`, `30d` or `2w`. Throws InvalidArgumentError
 * if the text is not a duration, or is longer than 100 years.
 */
export function parseDuration(text: string): number {
  if (text === '0') return 0;
  const [, count = '', unit = ''] = /^(\d{1,10})([smhdw])$/.exec(text) ?? [];
  const durationMs = Number(count) * (unitMs[unit as keyof typeof unitMs] ?? Number.NaN);
  if (durationMs <= durationMsMax) return durationMs;
  throw new InvalidArgumentError(
    'It must be a whole number with the unit s, m, h, d or w, as in 30d, and at most 100 years.',
  );
}

/** Like `parseDuration`, but throws for less than one second. */
export function parseLifetime(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === 0) throw new InvalidArgumentError('It must be at least one second.');
  return durationMs;
}

export function parseScopeList(text: string): readonly Scope[] {
  const parsed = parseScopes(text);
  if ('problem' in parsed) throw new InvalidArgumentError(`The ${parsed.problem}.`);
  return parsed;
}

export function parseAccountName(text: string): string {
  if (isAccountName(text)) return text;
  throw new InvalidArgumentError(`${accountNameRule.replace(/^a/, 'A')}.`);
}

/** Applies the rules of names (contract section 2). */
export function parseName(text: string): string {
  if (isReference(text)) return text;
  throw new InvalidArgumentError(
    'It must have 1 to 255 characters, not only white space, and no control characters.',
  );
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,12}$/.test(text) && Number(text) <= limitMax) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${limitMax}.`);
}

function parseOpenHolds(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= openHoldsMax) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${openHoldsMax}.`);
}

export function parseInt64Id(text: string): bigint {
  const id = parseCanonicalInt64(text);
  if (id === null) throw new InvalidArgumentError('It must be an id in decimal digits.');
  return id;
}

export function parseInt64(text: string): bigint {
  const value = parseCanonicalInt64(text);
  if (value === null)
    throw new InvalidArgumentError(`It must be a whole number from ${int64Min} to ${int64Max}.`);
  return value;
}

export const jsonOption = new Option('--json', 'print one JSON value');

export interface JsonOption {
  readonly json?: true;
}

export const planOptions = [
  new Option('--plan <plan>', 'the plan of the account').choices(planNames),
  new Option('--per-minute <count>', 'requests per minute, for enterprise').argParser(parseLimit),
  new Option('--per-day <count>', 'requests per day, for enterprise').argParser(parseLimit),
  new Option(
    '--open-holds <count>',
    'orders that may be reserved at a time, for enterprise (default: 100)',
  ).argParser(parseOpenHolds),
] as const;

export interface PlanOptions {
  readonly plan?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly openHolds?: number;
}

/**
 * Returns the plan that the options name, or null without any of them. Exits with a usage error if the options
 * contradict each other.
 */
export function readPlanOptions({ plan, ...numbers }: PlanOptions, command: Command): Plan | null {
  const { perMinute, perDay, openHolds } = numbers;
  const custom: Partial<CustomNumbers> = {
    ...(perMinute !== undefined && { perMinute }),
    ...(perDay !== undefined && { perDay }),
    ...(openHolds !== undefined && { openHolds }),
  };
  if (plan === undefined) {
    if (Object.keys(custom).length === 0) return null;
    return command.error('error: --per-minute, --per-day and --open-holds need --plan enterprise');
  }
  const resolved = resolvePlan(plan, custom);
  return 'problem' in resolved ? command.error(`error: ${resolved.problem}`) : resolved;
}
