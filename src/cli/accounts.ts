import type { ListedAccount } from '../accounts/account-rows.ts';
import { UsageError } from '../errors.ts';
import { endRule, readEnd, toTime } from '../format.ts';
import { type Limits, limitMax, openHoldsOf, type Plan } from '../plans/plan.ts';
import type { Store } from '../store.ts';
import { addExportAccount } from './account-export.ts';
import { addShow } from './account-show.ts';
import { accountArgument, addPlanOptions, type PlanOptions, readPlan, soon } from './arguments.ts';
import { type AppCommand, printLines, printTable } from './command.ts';
import { type Column, formatTime } from './output.ts';
import { parseAccountName, parseCountUpTo, parserOf } from './parsers.ts';

export function addAccounts(program: AppCommand): void {
  const accounts = program.addGroup(
    'accounts',
    'create, show, rename, suspend and delete accounts, and change their plans',
  );
  const create = accounts
    .addLeaf('create', 'create an account without a key')
    .withExamples('accounts create "Acme Zoo" --plan pro')
    .argument('<account>', 'the name of the account', parseAccountName);
  setPlanOf(create, 'is created', (store, account, plan) => store.accounts.create(account, plan));
  accounts
    .addLeaf('list', 'list all accounts')
    .withExamples('accounts list', 'accounts list --json')
    .doesWithStore(async (store) => printTable(await store.accounts.list(), columns, toJson));
  addShow(accounts);
  addAct(accounts, 'rename', 'rename an account', ' "Acme Zoo Ltd"')
    .argument('<name>', 'its new name', parseAccountName)
    .doesWithStore(async (store, _options, account: string, name: string) => {
      await store.accounts.rename(account, name);
      return printLines({ account: name, formerly: account }, `${account} is renamed to ${name}`);
    });
  const setPlan = accounts
    .addLeaf('set-plan', `move an account to another plan; ${soon}`)
    .withExamples(
      'accounts set-plan "Acme Zoo" --plan pro',
      'accounts set-plan "Acme Zoo" --plan enterprise --per-minute 5000 --per-day 1000000 \\\n    --open-holds 500',
    )
    .addArgument(accountArgument);
  setPlanOf(setPlan, 'is', (store, account, plan) => store.accounts.setPlan(account, plan));
  addSuspension(accounts);
  addLimits(accounts);
  addExportAccount(accounts);
  addDelete(accounts);
}

/** Adds a command that changes one account, with the account "Acme Zoo" and `rest` as its example. */
function addAct(accounts: AppCommand, name: string, description: string, rest = ''): AppCommand {
  const leaf = accounts.addLeaf(name, description).withExamples(`accounts ${name} "Acme Zoo"${rest}`);
  return leaf.addArgument(accountArgument);
}

function setPlanOf(
  leaf: AppCommand,
  done: string,
  change: (store: Store, account: string, plan: Plan) => Promise<unknown>,
): void {
  addPlanOptions(leaf, true).does(async ({ withStore }, options: PlanOptions, account: string) => {
    const plan = readPlan(options);
    await withStore((store) => change(store, account, plan));
    const { name, limits, openHolds = openHoldsOf[name] } = plan;
    const json = { account, plan: name, ...limits, openHolds };
    return printLines(json, `${account} ${done} on the plan ${name}`);
  });
}

function addSuspension(accounts: AppCommand): void {
  const refused = 'its requests are refused within 2 seconds (5 with several instances)';
  addAct(accounts, 'suspend', `suspend an account: ${refused}`)
    .withNotes('The account keeps its keys, orders and webhooks. Its open holds expire.')
    .doesWithStore(async (store, _options, account: string) => {
      await store.accounts.suspend(account);
      return printLines({ account, suspended: true }, `${account} is suspended`);
    });
  const resume = addAct(accounts, 'resume', `resume a suspended account; ${soon}`);
  resume.doesWithStore(async (store, _options, account: string) => {
    await store.accounts.resume(account);
    return printLines({ account, suspended: false }, `${account} is active again`);
  });
}

/** `until` is in Unix milliseconds. */
type LimitOptions = Partial<Limits> & { readonly until?: number };

function addLimits(accounts: AppCommand): void {
  const count = parseCountUpTo(limitMax);
  const { clock } = accounts.context;
  const parseEnd = parserOf((text) => readEnd(text, clock()), `It must be ${endRule}.`);
  addAct(accounts, 'set-limits', `set limits for one account, on any plan; ${soon}`)
    .withExamples(
      'accounts set-limits "Acme Zoo" --per-minute 600 --per-day 50000 --until 2027-01-11',
      'accounts set-limits "Acme Zoo" --per-minute 600 --until 2h',
    )
    .withNotes(`One number alone keeps the other number and, without --until, the end. With both
numbers and without --until, the limits apply until "accounts set-plan", which
removes them. The counts of the open windows stay.`)
    .option('--per-minute <count>', 'requests per minute', count)
    .option('--per-day <count>', 'requests per day', count)
    .option('--until <time>', 'when the limits end: a duration from now, as in 2h, or a time', parseEnd)
    .doesWithStore(async (store, { until, ...numbers }: LimitOptions, account: string) => {
      if (Object.keys(numbers).length === 0) throw new UsageError('give --per-minute or --per-day, or both');
      const { limits, ownLimits } = await store.accounts.setLimits(account, numbers, until);
      const { perMinute, perDay } = limits;
      const end = toTime(ownLimits?.untilMs ?? null);
      const untilEnd = end === null ? '' : ` until ${end}`;
      const text = `${account} may send ${perMinute} requests a minute and ${perDay} a day${untilEnd}`;
      return printLines({ account, ...limits, until: end }, text);
    });
  const restart = 'let the minute and the day of an account start again, within 2 seconds';
  addAct(accounts, 'reset-limits', restart).doesWithStore(async (store, _options, account: string) => {
    await store.accounts.resetLimits(account);
    return printLines({ account, reset: true }, `the windows of ${account} start again`);
  });
}

const parseDays = parseCountUpTo(36_500);

type DeleteOptions = { readonly confirm: string; readonly keepDays?: number };

function addDelete(accounts: AppCommand): void {
  const example = ' --confirm "Acme Zoo" --keep-days 30';
  addAct(accounts, 'delete', 'delete an account and erase its data, for good', example)
    .withNotes(`Revokes its keys, deletes its webhooks and cancels its open holds. Erases its
name, the references of its orders, its counts, its failed requests and its
first answers. Its orders and events stay without names. If the command is
killed, a running service erases the rest.`)
    .requiredOption('--confirm <account>', 'the name of the account once more')
    .option('--keep-days <days>', 'refuse if an order was completed within so many days', parseDays)
    .does(async ({ withStore }, { confirm, keepDays }: DeleteOptions, account: string) => {
      if (confirm !== account) throw new UsageError(`--confirm must repeat the name "${account}"`);
      const erased = await withStore((store) => store.accounts.delete(account, keepDays ?? null));
      const { keys, webhooks, holds } = erased;
      const ended = `revoked keys: ${keys}, deleted webhooks: ${webhooks}, cancelled holds: ${holds}`;
      return printLines({ account, deleted: true, ...erased }, `${account} is deleted; ${ended}`);
    });
}

const columns: readonly Column<ListedAccount>[] = [
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'PLAN', cell: ({ plan }) => plan },
  { heading: 'PER MINUTE', cell: ({ limits }) => String(limits.perMinute), leavesAt: 2 },
  { heading: 'PER DAY', cell: ({ limits }) => String(limits.perDay), leavesAt: 3 },
  { heading: 'HOLDS MAX', cell: ({ openHolds }) => String(openHolds), leavesAt: 4 },
  { heading: 'KEYS', cell: ({ keys }) => String(keys), leavesAt: 1 },
  { heading: 'STATE', cell: ({ suspendedAtMs }) => (suspendedAtMs === null ? 'active' : 'suspended') },
  { heading: 'CREATED', cell: ({ createdAtMs }) => formatTime(createdAtMs), leavesAt: 5 },
];

function toJson({ id: _, limits, ownLimits: __, ...account }: ListedAccount) {
  return { ...account, ...limits };
}
