import { Command } from 'commander';
import type { ListedAccount } from '../accounts/accounts.ts';
import { openHoldsOf, type Plan } from '../plans/plan.ts';
import { showCommand } from './account-show.ts';
import {
  type JsonOption,
  jsonOption,
  type PlanOptions,
  parseAccountName,
  planOptions,
  readPlanOptions,
} from './arguments.ts';
import type { CommandContext } from './context.ts';
import { formatTime, toIsoTime, writeJson, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';

export function accountsCommand(context: CommandContext): Command {
  return new Command('accounts')
    .description('create, show, rename and suspend accounts, and change their plans')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(renameCommand(context))
    .addCommand(setPlanCommand(context))
    .addCommand(suspendCommand(context))
    .addCommand(resumeCommand(context))
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store accounts list\n  animal-store accounts set-plan "Acme Zoo" --plan pro',
    );
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list all accounts')
    .addOption(jsonOption)
    .addHelpText('after', '\nExamples:\n  animal-store accounts list\n  animal-store accounts list --json')
    .action(async ({ json }: JsonOption) => {
      await withStore(async ({ accounts }) => {
        const found = await accounts.list();
        if (json) writeJson(terminal, found.map(toJson));
        else writeColumns(terminal, columns, found);
      });
    });
}

function setPlanCommand({ withStore, terminal }: CommandContext): Command {
  const command = new Command('set-plan');
  for (const option of planOptions) command.addOption(option);
  return command
    .description('move an account to another plan; effective within 2 seconds (5 with several instances)')
    .argument('<account>', 'the name of the account')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
Examples:
  animal-store accounts set-plan "Acme Zoo" --plan pro
  animal-store accounts set-plan "Acme Zoo" --plan enterprise --per-minute 5000 --per-day 1000000 \\
    --open-holds 500`,
    )
    .action(async (account: string, { json, ...named }: PlanOptions & JsonOption) => {
      const plan = readPlanOptions(named, command);
      if (plan === null) return command.error("error: required option '--plan <plan>' not specified");
      await withStore(({ accounts }) => accounts.setPlan(account, plan));
      if (json) writeJson(terminal, planToJson(account, plan));
      else writeLine(terminal, `${account} is on the plan ${plan.name}`);
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

function toJson({ account, plan, limits, openHolds, keys, createdAtMs, suspendedAtMs }: ListedAccount) {
  const times = { createdAt: toIsoTime(createdAtMs), suspendedAt: toIsoTime(suspendedAtMs) };
  return { account, plan, ...limits, openHolds, keys, ...times };
}

function createCommand({ withStore, terminal }: CommandContext): Command {
  const command = new Command('create');
  for (const option of planOptions) command.addOption(option);
  return command
    .description('create an account without a key')
    .argument('<account>', 'the name of the account', parseAccountName)
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store accounts create "Acme Zoo" --plan pro')
    .action(async (account: string, { json, ...named }: PlanOptions & JsonOption) => {
      const plan = readPlanOptions(named, command);
      if (plan === null) return command.error("error: required option '--plan <plan>' not specified");
      await withStore(({ accounts }) => accounts.create(account, plan));
      if (json) writeJson(terminal, planToJson(account, plan));
      else writeLine(terminal, `${account} is created on the plan ${plan.name}`);
    });
}

function renameCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('rename')
    .description('rename an account')
    .argument('<account>', 'the name of the account')
    .argument('<name>', 'its new name', parseAccountName)
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store accounts rename "Acme Zoo" "Acme Zoo Ltd"')
    .action(async (account: string, newName: string, { json }: JsonOption) => {
      await withStore(({ accounts }) => accounts.rename(account, newName));
      if (json) writeJson(terminal, { account: newName, formerly: account });
      else writeLine(terminal, `${account} is renamed to ${newName}`);
    });
}

function suspendCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('suspend')
    .description('suspend an account: its requests are refused within 2 seconds (5 with several instances)')
    .argument('<account>', 'the name of the account')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      '\nThe account keeps its keys, orders and webhooks. Its open holds expire.\n\nExample:\n  animal-store accounts suspend "Acme Zoo"',
    )
    .action(async (account: string, { json }: JsonOption) => {
      await withStore(({ accounts }) => accounts.suspend(account));
      if (json) writeJson(terminal, { account, suspended: true });
      else writeLine(terminal, `${account} is suspended`);
    });
}

function resumeCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('resume')
    .description('resume a suspended account; effective within 2 seconds (5 with several instances)')
    .argument('<account>', 'the name of the account')
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store accounts resume "Acme Zoo"')
    .action(async (account: string, { json }: JsonOption) => {
      await withStore(({ accounts }) => accounts.resume(account));
      if (json) writeJson(terminal, { account, suspended: false });
      else writeLine(terminal, `${account} is active again`);
    });
}

function planToJson(account: string, { name, limits, openHolds = openHoldsOf[name] }: Plan) {
  return { account, plan: name, ...limits, openHolds };
}
