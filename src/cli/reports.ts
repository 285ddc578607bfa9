import { Option } from 'commander';
import { type AuditAction, auditActions, type ListedAuditEntry } from '../audit/audit-log.ts';
import { dayMs } from '../clock.ts';
import { errorCodes } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import type { Store } from '../store.ts';
import { type ListedRequest, listRequests } from '../usage/failed-requests.ts';
import { type AccountUsage, listUsageByAccount, type UsageOrder, usageOrders } from '../usage/usage.ts';
import {
  accountFilter,
  checkRange,
  limitOption,
  sinceOption,
  type TimeRange,
  untilOption,
} from './arguments.ts';
import { type AppCommand, printTable } from './command.ts';
import { type Column, formatSecond } from './output.ts';
import { parseAccountName, parseCountUpTo, parserOf } from './parsers.ts';

const parseStatus = parseCountUpTo(599);

const parseCode = parserOf(
  (text) => errorCodes.find((code) => code === text) ?? null,
  'It must be one of the codes in docs/errors.md.',
);

/** `since` is in Unix milliseconds. */
type ReportOptions = Partial<{ account: string; since: number }> & { readonly limit: number };
type RequestsOptions = ReportOptions &
  TimeRange &
  Partial<{ key: string; status: number; code: string; id: string }>;

export function addRequests(program: AppCommand): void {
  program
    .addLeaf('requests', 'show the requests that failed or took over a second')
    .withExamples(
      'requests --account "Acme Zoo" --since 24h',
      'requests --status 409 --since 2027-01-11 --until "2027-01-11 09:30Z"',
      'requests --id req_4f1c09a2b7de_7 --json',
    )
    .withNotes(`The newest request comes first. The store keeps requests for 7 days. Requests
that a limit refused share a row for each key and hour, and so do more than 100
failed requests of an account in an hour. Such a row has their number and no
request id.`)
    .addOption(accountFilter('requests'))
    .option('--key <id>', 'only requests with this key')
    .option('--status <status>', 'only requests with this HTTP status', parseStatus)
    .option('--code <code>', 'only requests with this error code, as in pet_unavailable', parseCode)
    .addOption(sinceOption('requests', program.context.clock))
    .addOption(untilOption('requests'))
    .option('--id <request id>', 'only the request with this X-Request-Id')
    .addOption(limitOption('requests'))
    .does(async ({ withStore }, options: RequestsOptions) => {
      checkRange(options);
      const items = await withStore((store) => findRequests(store, options));
      return printTable(items, requestColumns, ({ id: _, ...request }) => request);
    });
}

async function findRequests({ database, accounts }: Store, options: RequestsOptions) {
  const { account, key: keyId, since: sinceMs, until: untilMs, id: requestId, ...filters } = options;
  const accountId = account === undefined ? undefined : await accounts.findId(account);
  const query = { ...filters, accountId, keyId, sinceMs, untilMs, requestId, newestId: null };
  return (await listRequests(database, query)).items;
}

const requestColumns: readonly Column<ListedRequest>[] = [
  { heading: 'WHEN', cell: ({ lastAtMs }) => formatSecond(lastAtMs) },
  { heading: 'OPERATION', cell: ({ operation }) => operation ?? '-' },
  { heading: 'CODE', cell: ({ code, status }) => code ?? String(status) },
  { heading: 'MESSAGE', cell: ({ message }) => message ?? '-' },
  { heading: 'ABOUT', cell: ({ subject }) => subject ?? '-', leavesAt: 1 },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-', leavesAt: 2 },
  { heading: 'STATUS', cell: ({ status }) => String(status), leavesAt: 3 },
  { heading: 'TIMES', cell: ({ times }) => String(times), leavesAt: 4 },
  { heading: 'REQUEST ID', cell: ({ requestId }) => requestId ?? '-', leavesAt: 5 },
  { heading: 'KEY', cell: ({ keyId }) => keyId ?? '-', leavesAt: 6 },
  { heading: 'ADDRESS', cell: ({ address }) => address ?? '-', leavesAt: 7 },
  { heading: 'MS', cell: ({ durationMs }) => String(durationMs), leavesAt: 8 },
];

type UsageOptions = Required<ReportOptions> & { readonly by: UsageOrder };

export function addUsage(program: AppCommand): void {
  const { clock } = program.context;
  program
    .addLeaf('usage', 'show which accounts send the most requests')
    .withExamples('usage', 'usage --since 7d --by refused', 'usage --by errors --json')
    .withNotes(
      'Requests are counted by hour, so the first hour is counted as a whole.\nThe store keeps the counts of 7 days.',
    )
    .addOption(sinceOption('requests', clock).default(clock() - dayMs, '24h'))
    .addOption(new Option('--by <count>', 'the order').choices(usageOrders).default('requests'))
    .addOption(limitOption('accounts'))
    .doesWithStore(async ({ database }, { since, by, limit }: UsageOptions) =>
      printTable(await listUsageByAccount(database, since, by, limit), usageColumns),
    );
}

const usageColumns: readonly Column<AccountUsage>[] = [
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'REQUESTS', cell: ({ requests }) => String(requests) },
  { heading: 'REFUSED', cell: ({ refused }) => String(refused) },
  { heading: 'ERRORS', cell: ({ errors }) => String(errors) },
];

type AuditOptions = ReportOptions & Partial<{ by: string; action: AuditAction; of: string }>;

export function addAudit(program: AppCommand): void {
  const subjects = 'the name of an account, or the id of any other object';
  program
    .addLeaf('audit', 'show who changed what, and when: by command, in the console or with a key')
    .withExamples('audit', 'audit --account "Acme Zoo" --since 7d', 'audit --of key_3kTMd8fZq1LxW0aB --json')
    .withNotes('The newest change comes first. The store keeps changes for one year.')
    .option('--account <name>', 'only changes of this account and of what it owns', parseAccountName)
    .option('--by <actor>', 'only changes by this system user, key or console session')
    .addOption(new Option('--action <action>', 'only changes of this kind').choices(auditActions))
    .option('--of <subject>', `only changes of this object: ${subjects}`)
    .addOption(sinceOption('changes', program.context.clock))
    .addOption(limitOption('changes'))
    .doesWithStore(async ({ accounts, audit }, { account, by, of, since, ...options }: AuditOptions) => {
      const accountId = account === undefined ? undefined : await accounts.findId(account);
      const query = { ...options, accountId, actor: by, subject: of, sinceMs: since, newestId: null };
      const { items } = await audit.list(query);
      return printTable(items, auditColumns, ({ actor, ...entry }) => ({ ...entry, by: actor }));
    });
}

const auditColumns: readonly Column<ListedAuditEntry>[] = [
  { heading: 'WHEN', cell: ({ atMs }) => formatSecond(atMs) },
  { heading: 'WHO', cell: ({ actor }) => (actor.kind === 'console' ? `console ${actor.name}` : actor.name) },
  { heading: 'DID', cell: ({ action }) => action },
  { heading: 'TO', cell: ({ subject }) => subject },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-', leavesAt: 1 },
  { heading: 'BEFORE', cell: ({ before }) => toText(before), leavesAt: 3 },
  { heading: 'AFTER', cell: ({ after }) => toText(after), leavesAt: 2 },
];

function toText(value: unknown): string {
  return value === null ? '-' : stringifyExactJson(value);
}
