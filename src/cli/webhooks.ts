import { toTime } from '../format.ts';
import type { ListedWebhook } from '../webhooks/webhooks.ts';
import { accountFilter, textId } from './arguments.ts';
import { type AppCommand, printLines, printTable } from './command.ts';
import { type Column, formatTime } from './output.ts';

export function addWebhooks(program: AppCommand): void {
  const webhooks = program.addGroup('webhooks', 'list, enable and disable webhooks');
  webhooks
    .addLeaf('list', 'list the webhooks of all accounts')
    .withExamples('webhooks list', 'webhooks list --json')
    .addOption(accountFilter('webhooks'))
    .doesWithStore(async ({ allWebhooks }, { account }: { readonly account?: string }) =>
      printTable(await allWebhooks.list(account ?? null), columns, toJson),
    );
  for (const [name, status, effect] of [
    ['enable', 'enabled', 'it continues from its position'],
    ['disable', 'disabled', 'it keeps its position'],
  ] as const)
    webhooks
      .addLeaf(name, `${name} a webhook; ${effect}`)
      .withExamples(`webhooks ${name} wh_8tKq2ZmX0aLr5VnC`)
      .addArgument(textId('webhook', 'webhooks list'))
      .doesWithStore(async ({ allWebhooks }, _options, id: string) => {
        await allWebhooks.change(id, { status });
        return printLines({ id, status }, `${id} is ${status}`);
      });
}

function toJson({ lastAttemptAtMs, lastResult, keyId: key, ...webhook }: ListedWebhook) {
  const { id, account, url, types, status, disabledBecause } = webhook;
  const lastAttempt = lastResult === null ? null : { at: toTime(lastAttemptAtMs), result: lastResult };
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
