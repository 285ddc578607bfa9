import { Argument, InvalidArgumentError, Option } from 'commander';
import { accountNameRule, isAccountName, parseScopes, type Scope } from '../accounts/account.ts';
import { type Clock, dayMs, hourMs, minuteMs, secondMs } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { int64Max, int64Min, parseCanonicalInt64 } from '../int64.ts';
import { isReference } from '../orders/order.ts';
import { type Limits, limitMax, openHoldsMax, type Plan, planNames, resolvePlan } from '../plans/plan.ts';
import type { AppCommand } from './command.ts';

/** Returns a parser of commander, which fails with `rule` if `read` returns null. */
export function parserOf<T>(read: (text: string) => T | null, rule: string): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(rule);
    return value;
  };
}

const unitMs = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };
const durationMsMax = 100 * 365 * dayMs;

/** Parses a duration such as `0`, `90s`, `15m`, `24h`, `30d` or `2w` to milliseconds. */
export const parseDuration = parserOf((text) => {
  const [, count = '', unit = ''] = /^(\d{1,10})([smhdw])$/.exec(text) ?? [];
  const durationMs = text === '0' ? 0 : Number(count) * (unitMs[unit as keyof typeof unitMs] ?? Number.NaN);
  return durationMs <= durationMsMax ? durationMs : null;
}, 'It must be a whole number with the unit s, m, h, d or w, as in 30d, and at most 100 years.');

export const parseLifetime = parserOf(
  (text) => parseDuration(text) || null,
  'It must be at least one second.',
);

const timeText = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Parses a date, which begins in UTC, or an RFC 3339 time, to Unix milliseconds. */
export const parseTime = parserOf(readTime, 'It must be a date or an RFC 3339 time, as in 2027-01-11.');

/** Returns null if the text is not a time. `Date.parse` takes the 30th of February for the 2nd of March. */
function readTime(text: string): number | null {
  const [date, ms] = [text.slice(0, 10), Date.parse(text)];
  if (!timeText.test(text) || Number.isNaN(ms)) return null;
  return new Date(date).toISOString().startsWith(date) ? ms : null;
}

/** The option --since: a time, or a duration that ends now, such as `7d`, in Unix milliseconds. */
export function sinceOption(of: string, clock: Clock): Option {
  const description = `only ${of} since then: a duration, as in 7d, or a time`;
  const parse = (text: string) => readTime(text) ?? clock() - parseDuration(text);
  return new Option('--since <time>', description).argParser(parse);
}

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

export function numericId(of: string): Argument {
  return new Argument('<id>', `the id of the ${of}`).argParser(parseInt64Id);
}

export function textId(of: string, listedBy: string): Argument {
  return new Argument('<id>', `the id of the ${of}, as shown by "${listedBy}"`);
}

/** How soon a change of an account applies, for the help. */
export const soon = 'effective within 2 seconds (5 with several instances)';

export const accountArgument = new Argument('<account>', 'the name of the account');

export function accountFilter(of: string): Option {
  return new Option('--account <name>', `only ${of} of this account`).argParser(parseAccountName);
}

const listedMax = 10_000;

export function limitOption(of: string): Option {
  return new Option('--limit <count>', `maximum number of ${of}, up to ${listedMax}`)
    .argParser(parseCountUpTo(listedMax))
    .default(100);
}

export type PlanOptions = Partial<Limits & { plan: string; openHolds: number }>;

export function addPlanOptions(command: AppCommand, isRequired: boolean): AppCommand {
  const plan = new Option('--plan <plan>', 'the plan of the account').choices(planNames);
  const count = parseCountUpTo(limitMax);
  const holds = 'orders that may be reserved at a time, for enterprise (default: 100)';
  return command
    .addOption(plan.makeOptionMandatory(isRequired))
    .option('--per-minute <count>', 'requests per minute, for enterprise', count)
    .option('--per-day <count>', 'requests per day, for enterprise', count)
    .option('--open-holds <count>', holds, parseCountUpTo(openHoldsMax));
}

/** Returns the plan that the options name. Throws UsageError if there is none, or if the options contradict each other. */
export function readPlan({ plan, ...numbers }: PlanOptions): Plan {
  if (plan === undefined)
    throw new UsageError('--per-minute, --per-day and --open-holds need --plan enterprise');
  const resolved = resolvePlan(plan, numbers);
  if ('problem' in resolved) throw new UsageError(resolved.problem);
  return resolved;
}
