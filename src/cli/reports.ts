import { Option } from 'commander';
import { type AuditAction, auditActions, type ListedAuditEntry } from '../audit/audit-log.ts';
import { dayMs } from '../clock.ts';
import { errorCodes, UsageError } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import type { Store } from '../store.ts';
import { type ListedRequest, listRequests } from '../usage/failed-requests.ts';
import { listStrangers, type Stranger } from '../usage/strangers.ts';
import { type AccountUsage, listUsageByAccount, usageOrders } from '../usage/usage.ts';
import { type AccountDay, listDays } from '../usage/usage-days.ts';
import {
  accountFilter,
  checkRange,
  limitOption,
  sinceOption,
  type TimeRange,
  untilOption,
} from './arguments.ts';
import { type AppCommand, noneFound, type Printed, printTable } from './command.ts';
import { printCsv } from './export.ts';
import { type Column, formatSecond, formatTime, type Terminal } from './output.ts';
import { parseAccountName, parserOf } from './parsers.ts';

const parseStatus = parserOf(
  (text) => (/^[1-5]\d\d$/.test(text) ? Number(text) : null),
  'It must be a status from 100 to 599.',
);

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
failed requests of an account in an hour. Such a row has their number,
is about the last of them, and stands at the place of the first.`)
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
      return printTable(items, requestColumns, ({ id: _, ...request }) => request, noneFound);
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

export function addStrangers(program: AppCommand): void {
  program
    .addLeaf('strangers', 'show the addresses that send the most refused requests without a valid key')
    .withExamples('strangers', 'strangers --json')
    .withNotes(`The requests of the last hour, up to the last minute. Of each minute, an
instance writes the 100 addresses with the most. An IPv6 address stands for its
network (/64).`)
    .doesWithStore(async ({ database }) =>
      printTable(await listStrangers(database, program.context.clock()), strangerColumns),
    );
}

const strangerColumns: readonly Column<Stranger>[] = [
  { heading: 'ADDRESS', cell: ({ address }) => address },
  { heading: 'REFUSED', cell: ({ refusals }) => String(refusals) },
  { heading: 'LAST', cell: ({ lastAtMs }) => formatTime(lastAtMs) },
];

const usageLists = [...usageOrders, 'day'] as const;

type UsageOptions = Partial<ReportOptions> &
  TimeRange & { readonly by: (typeof usageLists)[number]; readonly csv: boolean };
export function addUsage(program: AppCommand): void {
  const { clock, terminal } = program.context;
  program
    .addLeaf('usage', 'show which accounts send the most requests, and the requests of each day')
    .withExamples(
      'usage --since 7d --by refused',
      'usage --by day --account "Acme Zoo"',
      'usage --by day --since 2027-01-01 --until 2027-02-01 --csv > january.csv',
    )
    .withNotes(`By a count, each account has one row, the highest first. Requests are counted by
hour, so the first hour is counted as a whole. The store keeps these counts for
7 days.

By day, each account has a row for every day with requests in UTC, the newest
first. The store keeps the days for 13 months.`)
    .addOption(sinceOption('requests', clock, ' (default: 24h; by day, all that is kept)'))
    .addOption(untilOption('days'))
    .addOption(
      new Option('--by <list>', 'the order of the accounts, or the counts of each day')
        .choices(usageLists)
        .default('requests'),
    )
    .addOption(accountFilter('days'))
    .option('--csv', 'print CSV', false)
    .addOption(limitOption('rows', ' (default: 100; by day with --csv, all)', null))
    .hook('preAction', (leaf) => checkUsage(leaf.opts()))
    .doesWithStore((store, options: UsageOptions) => showUsage(store, options, clock(), terminal));
}

function checkUsage({ by, account, until, csv, json, ...range }: UsageOptions & { json?: boolean }): void {
  if (csv && json) throw new UsageError('--csv and --json exclude each other');
  if (by !== 'day' && account !== undefined) throw new UsageError('--account needs --by day');
  if (by !== 'day' && until !== undefined) throw new UsageError('--until needs --by day');
  checkRange({ ...range, ...(until !== undefined && { until }) });
}

async function showUsage(
  store: Store,
  { by, since, until, account, csv, limit }: UsageOptions,
  nowMs: number,
  terminal: Terminal,
): Promise<Printed> {
  const { database, accounts } = store;
  if (by !== 'day') {
    const rows = await listUsageByAccount(database, since ?? nowMs - dayMs, by, limit ?? 100);
    if (!csv) return printTable(rows, usageColumns);
    return printCsv([rows], ['account', ...usageOrders], terminal);
  }
  const accountId = account === undefined ? null : await accounts.findId(account);
  const most = limit ?? (csv ? Infinity : 100);
  const pages = listDays(database, { accountId, sinceMs: since, untilMs: until, limit: most });
  if (csv) return printCsv(pages, ['day', 'account', ...usageOrders], terminal);
  return printTable((await Array.fromAsync(pages)).flat(), dayColumns);
}

const usageColumns: readonly Column<AccountUsage>[] = [
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'REQUESTS', cell: ({ requests }) => String(requests) },
  { heading: 'REFUSED', cell: ({ refused }) => String(refused) },
  { heading: 'ERRORS', cell: ({ errors }) => String(errors) },
];

const dayColumns: readonly Column<AccountDay>[] = [
  { heading: 'DAY', cell: ({ day }) => day },
  ...usageColumns,
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
      return printTable(items, auditColumns, ({ actor, ...entry }) => ({ ...entry, by: actor }), noneFound);
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
