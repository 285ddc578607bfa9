import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { limitMax } from '../plans/plan.ts';
import { accountArgument, parseCountUpTo, parseTime, soon } from './arguments.ts';
import { addLeaf, type CommandContext, printLines } from './command.ts';
import { toIsoTime } from './output.ts';

interface LimitOptions {
  readonly perMinute: number;
  readonly perDay: number;
  readonly until?: number;
}

/** Adds the commands that change the limits of one account alone. */
export function addLimits(accounts: Command, context: CommandContext): void {
  const count = parseCountUpTo(limitMax);
  addLeaf(
    accounts,
    'set-limits',
    `set limits for one account, on any plan; ${soon}`,
    ['accounts set-limits "Acme Zoo" --per-minute 600 --per-day 50000 --until 2027-01-11'],
    `Without --until, the limits apply until "accounts set-plan", which removes them.
The counts of the open windows stay.`,
  )
    .addArgument(accountArgument)
    .requiredOption('--per-minute <count>', 'requests per minute', count)
    .requiredOption('--per-day <count>', 'requests per day', count)
    .option('--until <time>', 'when the limits end: a date in UTC or an RFC 3339 time', parseTime)
    .printing(context, async ({ perMinute, perDay, until }: LimitOptions, account: string) => {
      const untilMs = until ?? null;
      if (untilMs !== null && untilMs <= context.clock())
        throw new UsageError(`--until must be in the future, not ${toIsoTime(untilMs)}`);
      await context.withStore((store) => store.accounts.setLimits(account, { perMinute, perDay }, untilMs));
      const end = untilMs === null ? '' : ` until ${toIsoTime(untilMs)}`;
      return printLines(
        { account, perMinute, perDay, until: toIsoTime(untilMs) },
        `${account} may send ${perMinute} requests a minute and ${perDay} a day${end}`,
      );
    });
  addLeaf(
    accounts,
    'reset-limits',
    'let the minute and the day of an account start again, within 2 seconds',
    ['accounts reset-limits "Acme Zoo"'],
  )
    .addArgument(accountArgument)
    .printing(context, async (_options, account: string) => {
      await context.withStore((store) => store.accounts.resetLimits(account));
      return printLines({ account, reset: true }, `the windows of ${account} start again`);
    });
}
