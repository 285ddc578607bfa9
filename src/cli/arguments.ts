import { Argument, Option } from 'commander';
import type { Clock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { readStart, startRule } from '../format.ts';
import {
  type Limits,
  limitMax,
  openHoldsMax,
  openHoldsOf,
  type Plan,
  planNames,
  resolvePlan,
} from '../plans/plan.ts';
import type { AppCommand } from './command.ts';
import { parseAccountName, parseCountUpTo, parseInt64Id, parserOf, parseTime } from './parsers.ts';

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

/** The option --limit. Without a default number, `note` says what is listed. */
export function limitOption(of: string, note = '', byDefault: number | null = 100): Option {
  const option = new Option('--limit <count>', `maximum number of ${of}, up to ${listedMax}${note}`);
  option.argParser(parseCountUpTo(listedMax));
  return byDefault === null ? option : option.default(byDefault);
}

/** The option --since: a time, or a duration that ends now, such as `7d`, in Unix milliseconds. */
export function sinceOption(of: string, clock: Clock, note = ''): Option {
  const description = `only ${of} since then: a duration, as in 7d, or a time${note}`;
  const parse = parserOf((text) => readStart(text, clock()), `It must be ${startRule}.`);
  return new Option('--since <time>', description).argParser(parse);
}

/** The option --until: a time, in Unix milliseconds. */
export function untilOption(of: string): Option {
  return new Option('--until <time>', `only ${of} before this time`).argParser(parseTime);
}

/** Throws UsageError if no time is from --since on and before --until. */
export function checkRange({ since = -Infinity, until = Infinity }: TimeRange): void {
  if (since >= until) throw new UsageError('--until must be later than --since');
}

/** The options --since and --until, in Unix milliseconds. */
export type TimeRange = Partial<{ readonly since: number; readonly until: number }>;

export type PlanOptions = Partial<Limits & { plan: string; openHolds: number }>;

export function addPlanOptions(command: AppCommand, isRequired: boolean): AppCommand {
  const plan = new Option('--plan <plan>', 'the plan of the account').choices(planNames);
  const count = parseCountUpTo(limitMax);
  const holds = `orders that may be reserved at a time, for enterprise (default: ${openHoldsOf.enterprise})`;
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
