import { type Command, Option } from 'commander';
import { type AccountUsage, listUsageByAccount, type UsageOrder, usageOrders } from '../usage/usage.ts';
import { limitOption, type Options, parseSince, sinceOption } from './arguments.ts';
import { addLeaf, type CommandContext, printTable } from './command.ts';
import type { Column } from './table.ts';

export function addUsage(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'usage',
    'show which accounts send the most requests',
    ['usage', 'usage --since 7d --by refused', 'usage --by errors --json'],
    'Requests are counted by hour, so the first hour is counted as a whole.\nThe store keeps the counts of 7 days.',
  )
    .addOption(sinceOption('requests').default(parseSince('24h'), '24h'))
    .addOption(new Option('--by <count>', 'the order').choices(usageOrders).default('requests'))
    .addOption(limitOption('accounts'))
    .printing(context, async ({ since, by, limit }: Required<Options> & { readonly by: UsageOrder }) => {
      const sinceMs = since(context.clock());
      const found = await context.withStore(({ database }) =>
        listUsageByAccount(database, sinceMs, by, limit),
      );
      return printTable(found, columns, (usage) => usage);
    });
}

const columns: readonly Column<AccountUsage>[] = [
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'REQUESTS', cell: ({ requests }) => String(requests) },
  { heading: 'REFUSED', cell: ({ refused }) => String(refused) },
  { heading: 'ERRORS', cell: ({ errors }) => String(errors) },
];
