import type { Command } from 'commander';
import type { ListedAccount } from '../accounts/account-rows.ts';
import { UsageError } from '../errors.ts';
import { limitMax, openHoldsOf, type Plan } from '../plans/plan.ts';
import { addShow } from './account-show.ts';
import {
  accountArgument,
  addPlanOptions,
  type Options,
  parseAccountName,
  parseCountUpTo,
  parseTime,
  requirePlan,
  soon,
} from './arguments.ts';
import { addGroup, addLeaf, type CommandContext, printLines, printTable } from './command.ts';
import { formatTime, toIsoTime, withIsoTimes } from './output.ts';
import type { Column } from './table.ts';

export function addAccounts(program: Command, context: CommandContext): void {
  const accounts = addGroup(
    program,
    'accounts',
    'create, show, rename, suspend and delete accounts, and change their plans',
  );
  const create = addLeaf(accounts, 'create', 'create an account without a key', [
    'accounts create "Acme Zoo" --plan pro',
  ]).argument('<account>', 'the name of the account', parseAccountName);
  addPlanOptions(create).printing(context, async (options: Options, account: string) => {
    const plan = requirePlan(options);
    await context.withStore((store) => store.accounts.create(account, plan));
    return printLines(planToJson(account, plan), `${account} is created on the plan ${plan.name}`);
  });
  const list = addLeaf(accounts, 'list', 'list all accounts', ['accounts list', 'accounts list --json']);
  list.printing(context, async () =>
    printTable(await context.withStore((store) => store.accounts.list()), columns, toJson),
  );
  addShow(accounts, context);
  addChanges(accounts, context);
  addLimits(accounts, context);
  addDelete(accounts, context);
}

function addDelete(accounts: Command, context: CommandContext): void {
  addLeaf(
    accounts,
    'delete',
    'delete an account and erase its data, for good',
    ['accounts delete "Acme Zoo" --confirm "Acme Zoo" --keep-days 30'],
    `Revokes its keys, deletes its webhooks and cancels its open holds. Erases its
name, the references of its orders, its counts, its failed requests and its
first answers. Its orders and events stay without names. If the command is
killed, a running service erases the rest.`,
  )
    .addArgument(accountArgument)
    .requiredOption('--confirm <account>', 'the name of the account once more')
    .option(
      '--keep-days <days>',
      'refuse if an order was completed within so many days',
      parseCountUpTo(36_500),
    )
    .printing(context, async ({ confirm, keepDays }: DeleteOptions, account: string) => {
      if (confirm !== account) throw new UsageError(`--confirm must repeat the name "${account}"`);
      const erased = await context.withStore((store) => store.accounts.delete(account, keepDays ?? null));
      const { keys, webhooks, holds } = erased;
      return printLines(
        { account, deleted: true, ...erased },
        `${account} is deleted; revoked keys: ${keys}, deleted webhooks: ${webhooks}, cancelled holds: ${holds}`,
      );
    });
}

interface DeleteOptions {
  readonly confirm: string;
  readonly keepDays?: number;
}

function addChanges(accounts: Command, context: CommandContext): void {
  addLeaf(accounts, 'rename', 'rename an account', ['accounts rename "Acme Zoo" "Acme Zoo Ltd"'])
    .addArgument(accountArgument)
    .argument('<name>', 'its new name', parseAccountName)
    .printing(context, async (_options, account: string, name: string) => {
      await context.withStore((store) => store.accounts.rename(account, name));
      return printLines({ account: name, formerly: account }, `${account} is renamed to ${name}`);
    });
  const setPlan = addLeaf(accounts, 'set-plan', `move an account to another plan; ${soon}`, [
    'accounts set-plan "Acme Zoo" --plan pro',
    'accounts set-plan "Acme Zoo" --plan enterprise --per-minute 5000 --per-day 1000000 \\\n    --open-holds 500',
  ]).addArgument(accountArgument);
  addPlanOptions(setPlan).printing(context, async (options: Options, account: string) => {
    const plan = requirePlan(options);
    await context.withStore((store) => store.accounts.setPlan(account, plan));
    return printLines(planToJson(account, plan), `${account} is on the plan ${plan.name}`);
  });
  const suspended =
    'suspend an account: its requests are refused within 2 seconds (5 with several instances)';
  const kept = 'The account keeps its keys, orders and webhooks. Its open holds expire.';
  addLeaf(accounts, 'suspend', suspended, ['accounts suspend "Acme Zoo"'], kept)
    .addArgument(accountArgument)
    .printing(context, async (_options, account: string) => {
      await context.withStore((store) => store.accounts.suspend(account));
      return printLines({ account, suspended: true }, `${account} is suspended`);
    });
  addLeaf(accounts, 'resume', `resume a suspended account; ${soon}`, ['accounts resume "Acme Zoo"'])
    .addArgument(accountArgument)
    .printing(context, async (_options, account: string) => {
      await context.withStore((store) => store.accounts.resume(account));
      return printLines({ account, suspended: false }, `${account} is active again`);
    });
}

type LimitOptions = Required<Pick<Options, 'perMinute' | 'perDay'>> & Pick<Options, 'until'>;

function addLimits(accounts: Command, context: CommandContext): void {
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

const columns: readonly Column<ListedAccount>[] = [
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'PLAN', cell: ({ plan }) => plan },
  { heading: 'PER MINUTE', cell: ({ limits }) => String(limits.perMinute), leavesAt: 2 },
  { heading: 'PER DAY', cell: ({ limits }) => String(limits.perDay), leavesAt: 3 },
  { heading: 'OPEN HOLDS', cell: ({ openHolds }) => String(openHolds), leavesAt: 4 },
  { heading: 'KEYS', cell: ({ keys }) => String(keys), leavesAt: 1 },
  { heading: 'STATE', cell: ({ suspendedAtMs }) => (suspendedAtMs === null ? 'active' : 'suspended') },
  { heading: 'CREATED', cell: ({ createdAtMs }) => formatTime(createdAtMs), leavesAt: 5 },
];

function toJson({ id: _, limits, ownLimits: __, ...account }: ListedAccount) {
  return withIsoTimes({ ...account, ...limits });
}

function planToJson(account: string, { name, limits, openHolds = openHoldsOf[name] }: Plan) {
  return { account, plan: name, ...limits, openHolds };
}
