import type { Command } from 'commander';
import type { ListedWebhook } from '../webhooks/webhooks.ts';
import { accountFilter, type Options, textId } from './arguments.ts';
import { addGroup, addLeaf, type CommandContext, printLines, printTable } from './command.ts';
import { formatTime, toIsoTime } from './output.ts';
import type { Column } from './table.ts';

export function addWebhooks(program: Command, context: CommandContext): void {
  const webhooks = addGroup(program, 'webhooks', 'list, enable and disable webhooks');
  addLeaf(webhooks, 'list', 'list the webhooks of all accounts', ['webhooks list', 'webhooks list --json'])
    .addOption(accountFilter('webhooks'))
    .printing(context, async ({ account }: Options) => {
      const found = await context.withStore(({ allWebhooks }) => allWebhooks.list(account ?? null));
      return printTable(found, columns, toJson);
    });
  for (const [name, status, effect] of [
    ['enable', 'enabled', 'it continues from its position'],
    ['disable', 'disabled', 'it keeps its position'],
  ] as const)
    addLeaf(webhooks, name, `${name} a webhook; ${effect}`, [`webhooks ${name} wh_8tKq2ZmX0aLr5VnC`])
      .addArgument(textId('webhook', 'webhooks list'))
      .printing(context, async (_options, id: string) => {
        await context.withStore(({ allWebhooks }) => allWebhooks.change(id, { status }));
        return printLines({ id, status }, `${id} is ${status}`);
      });
}

function toJson({ lastAttemptAtMs, lastResult, ...webhook }: ListedWebhook) {
  const { id, account, keyId: key, url, types, status, disabledBecause } = webhook;
  const lastAttempt = lastResult === null ? null : { at: toIsoTime(lastAttemptAtMs), result: lastResult };
  return { id, account, url, types, status, disabledBecause, key, lastAttempt };
}

const columns: readonly Column<ListedWebhook>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'ACCOUNT', cell: ({ account }) => account, leavesAt: 2 },
  {
    heading: 'STATUS',
    cell: ({ status, disabledBecause: because }) => (because === null ? status : `${status} (${because})`),
  },
  { heading: 'URL', cell: ({ url }) => url },
  { heading: 'KEY', cell: ({ keyId }) => keyId, leavesAt: 4 },
  { heading: 'LAST ATTEMPT', cell: ({ lastAttemptAtMs }) => formatTime(lastAttemptAtMs), leavesAt: 3 },
  { heading: 'RESULT', cell: ({ lastResult }) => lastResult ?? '-', leavesAt: 1 },
  { heading: 'TYPES', cell: ({ types }) => types.join(), leavesAt: 5 },
];
