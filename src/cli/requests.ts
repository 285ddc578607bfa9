import type { Command } from 'commander';
import { errorCodes } from '../errors.ts';
import { type ListedRequest, listRequests } from '../usage/request-rows.ts';
import {
  accountFilter,
  limitOption,
  type Options,
  parseCountUpTo,
  parserOf,
  sinceOption,
} from './arguments.ts';
import { addLeaf, type CommandContext, printTable } from './command.ts';
import { formatSecond, withIsoTimes } from './output.ts';
import type { Column } from './table.ts';

const statusMax = 599;

interface RequestsOptions extends Options {
  readonly key?: string;
  readonly status?: number;
  readonly code?: string;
  readonly id?: string;
}

export function addRequests(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'requests',
    'show the requests that failed or took over a second',
    [
      'requests --account "Acme Zoo" --since 24h',
      'requests --status 409',
      'requests --id 3kTMd8fZq1LxW0aB --json',
    ],
    `The newest request comes first. The store keeps requests for 7 days. Requests
that a limit refused share a row for each key and hour, and so do more than 100
failed requests of an account in an hour. Such a row has their number and no
request id.`,
  )
    .addOption(accountFilter('requests'))
    .option('--key <id>', 'only requests with this key')
    .option('--status <status>', 'only requests with this HTTP status', parseCountUpTo(statusMax))
    .option('--code <code>', 'only requests with this error code, as in pet_unavailable', parseCode)
    .addOption(sinceOption('requests'))
    .option('--id <request id>', 'only the request with this X-Request-Id')
    .addOption(limitOption('requests'))
    .printing(context, async ({ account, key, status, code, since, id, limit }: RequestsOptions) => {
      const filters = { keyId: key, status, code, sinceMs: since?.(context.clock()), requestId: id };
      const { items } = await context.withStore(async ({ database, accounts }) => {
        const accountId = account === undefined ? undefined : await accounts.findId(account);
        return await listRequests(database, { ...filters, accountId, limit, newestId: null });
      });
      return printTable(items, columns, ({ id: _, ...request }) => withIsoTimes(request));
    });
}

const parseCode = parserOf(
  (text) => errorCodes.find((code) => code === text) ?? null,
  'It must be one of the codes in docs/errors.md.',
);

const columns: readonly Column<ListedRequest>[] = [
  { heading: 'WHEN', cell: ({ lastAtMs }) => formatSecond(lastAtMs) },
  { heading: 'STATUS', cell: ({ status }) => String(status) },
  { heading: 'CODE', cell: ({ code }) => code ?? '-' },
  { heading: 'TIMES', cell: ({ times }) => String(times), leavesAt: 5 },
  { heading: 'OPERATION', cell: ({ operation }) => operation ?? '-', leavesAt: 4 },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-' },
  { heading: 'KEY', cell: ({ keyId }) => keyId ?? '-', leavesAt: 3 },
  { heading: 'ADDRESS', cell: ({ address }) => address ?? '-', leavesAt: 2 },
  { heading: 'MS', cell: ({ durationMs }) => String(durationMs), leavesAt: 6 },
  { heading: 'REQUEST ID', cell: ({ requestId }) => requestId ?? '-', leavesAt: 1 },
  { heading: 'MESSAGE', cell: ({ message }) => message ?? '-', leavesAt: 7 },
];
