import { Command } from 'commander';
import type { ListedAccount } from '../accounts/accounts.ts';
import { openHoldsOf } from '../plans/plan.ts';
import { type JsonOption, jsonOption, type PlanOptions, planOptions, readPlanOptions } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { formatTime, toIsoTime, writeJson, writeLine, writeTable } from './output.ts';
import type { Terminal } from './terminal.ts';

/** `accounts`: who owns keys, and on which plan. */
export function accountsCommand(context: CommandContext): Command {
  return new Command('accounts')
    .description('list accounts and change their plans')
    .addCommand(listCommand(context))
    .addCommand(setPlanCommand(context))
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
      await withStore(async ({ accounts }) => writeAccounts(terminal, await accounts.list(), json));
    });
}

function setPlanCommand({ withStore, terminal }: CommandContext): Command {
  const command = new Command('set-plan');
  for (const option of planOptions) command.addOption(option);
  return command
    .description('move an account to another plan; a running service follows within 2 seconds')
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
      if (json)
        writeJson(terminal, {
          account,
          plan: plan.name,
          ...plan.limits,
          openHolds: plan.openHolds ?? openHoldsOf[plan.name],
        });
      else writeLine(terminal, `${account} is on the plan ${plan.name}`);
    });
}

const headings = ['ACCOUNT', 'PLAN', 'PER MINUTE', 'PER DAY', 'OPEN HOLDS', 'KEYS', 'CREATED'];

function writeAccounts(terminal: Terminal, accounts: readonly ListedAccount[], json?: true): void {
  if (json) writeJson(terminal, accounts.map(toJson));
  else writeTable(terminal, headings, accounts.map(toRow));
}

function toJson({ account, plan, limits, openHolds, keys, createdAtMs }: ListedAccount) {
  return { account, plan, ...limits, openHolds, keys, createdAt: toIsoTime(createdAtMs) };
}

function toRow({ account, plan, limits, openHolds, keys, createdAtMs }: ListedAccount): string[] {
  const counts = [limits.perMinute, limits.perDay, openHolds, keys].map(String);
  return [account, plan, ...counts, formatTime(createdAtMs)];
}
