import { Command } from 'commander';
import type { ListedWebhook } from '../webhooks/operator-webhooks.ts';
import { type JsonOption, jsonOption, parseAccountName } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { formatTime, toIsoTime, writeJson, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';
import type { Terminal } from './terminal.ts';

export function webhooksCommand(context: CommandContext): Command {
  return new Command('webhooks')
    .description('list, enable and disable webhooks')
    .addCommand(listCommand(context))
    .addCommand(enableCommand(context))
    .addCommand(disableCommand(context))
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store webhooks list\n  animal-store webhooks disable wh_8tKq2ZmX0aLr5VnC',
    );
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list the webhooks of all accounts')
    .option('--account <name>', 'only webhooks of this account', parseAccountName)
    .addOption(jsonOption)
    .addHelpText('after', '\nExamples:\n  animal-store webhooks list\n  animal-store webhooks list --json')
    .action(async ({ account, json }: JsonOption & { readonly account?: string }) => {
      const found = await withStore(({ allWebhooks }) => allWebhooks.list(account ?? null));
      if (json) writeJson(terminal, found.map(toJson));
      else writeColumns(terminal, columns, found);
    });
}

function enableCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('enable')
    .description('enable a webhook; it continues from its position')
    .argument('<id>', 'the id of the webhook, as shown by "webhooks list"')
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store webhooks enable wh_8tKq2ZmX0aLr5VnC')
    .action(async (id: string, { json }: JsonOption) => {
      await withStore(({ allWebhooks }) => allWebhooks.enable(id));
      writeStatus(terminal, id, 'enabled', json);
    });
}

function disableCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('disable')
    .description('disable a webhook; it keeps its position')
    .argument('<id>', 'the id of the webhook, as shown by "webhooks list"')
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store webhooks disable wh_8tKq2ZmX0aLr5VnC')
    .action(async (id: string, { json }: JsonOption) => {
      await withStore(({ allWebhooks }) => allWebhooks.disable(id));
      writeStatus(terminal, id, 'disabled', json);
    });
}

function writeStatus(terminal: Terminal, id: string, status: string, json: boolean | undefined): void {
  if (json) writeJson(terminal, { id, status });
  else writeLine(terminal, `${id} is ${status}`);
}

function toJson({ lastAttemptAtMs, lastResult, ...webhook }: ListedWebhook) {
  const { id, account, keyId: key, url, types, status } = webhook;
  const lastAttempt = lastResult === null ? null : { at: toIsoTime(lastAttemptAtMs), result: lastResult };
  return { id, account, url, types, status, key, lastAttempt };
}

const columns: readonly Column<ListedWebhook>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'ACCOUNT', cell: ({ account }) => account, leavesAt: 2 },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'URL', cell: ({ url }) => url },
  { heading: 'KEY', cell: ({ keyId }) => keyId, leavesAt: 4 },
  { heading: 'LAST ATTEMPT', cell: ({ lastAttemptAtMs }) => formatTime(lastAttemptAtMs), leavesAt: 3 },
  { heading: 'RESULT', cell: ({ lastResult }) => lastResult ?? '-', leavesAt: 1 },
  { heading: 'TYPES', cell: ({ types }) => types.join(), leavesAt: 5 },
];
