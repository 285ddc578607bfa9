import { Command, InvalidArgumentError, Option } from 'commander';
import { type AuditAction, auditActions } from '../audit/audit-entry.ts';
import type { Audit, AuditQuery, ListedAuditEntry } from '../audit/audit-log.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { type JsonOption, jsonOption, parseAccountName, parseDuration } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { toIsoTime, writeJson } from './output.ts';
import { type Column, writeColumns } from './table.ts';

const pageRows = 1_000;
const listedDefault = 100;
const listedMax = 10_000;

interface AuditOptions extends JsonOption {
  readonly account?: string;
  readonly by?: string;
  readonly action?: AuditAction;
  readonly of?: string;
  readonly since?: number;
  readonly limit: number;
}

export function auditCommand({ withStore, terminal, clock }: CommandContext): Command {
  return new Command('audit')
    .description('show who changed what, and when: by command, in the console or with a key')
    .option('--account <name>', 'only changes of this account and of what it owns', parseAccountName)
    .option('--by <actor>', 'only changes by this system user, key or console session')
    .addOption(new Option('--action <action>', 'only changes of this kind').choices(auditActions))
    .option(
      '--of <subject>',
      'only changes of this object: the name of an account, or the id of any other object',
    )
    .option('--since <duration>', 'only changes made within this duration, as in 7d', parseDuration)
    .option('--limit <count>', `maximum number of changes, up to ${listedMax}`, parseCount, listedDefault)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
The newest change comes first. The store keeps changes for one year.

Examples:
  animal-store audit
  animal-store audit --account "Acme Zoo" --since 7d
  animal-store audit --of key_3kTMd8fZq1LxW0aB --json`,
    )
    .action(async ({ json, by, of, since, ...options }: AuditOptions) => {
      const sinceMs = since === undefined ? undefined : clock() - since;
      const query = { ...options, actor: by, subject: of, sinceMs };
      const found = await withStore(({ audit }) => list(audit, query));
      if (json) writeJson(terminal, found.map(toJson));
      else writeColumns(terminal, columns, found);
    });
}

async function list(audit: Audit, query: AuditQuery): Promise<ListedAuditEntry[]> {
  const found: ListedAuditEntry[] = [];
  let newestId: bigint | null = null;
  do {
    const limit = Math.min(pageRows, query.limit - found.length);
    const page: Awaited<ReturnType<Audit['list']>> = await audit.list({ ...query, limit, newestId });
    found.push(...page.entries);
    newestId = page.nextId;
  } while (newestId !== null && found.length < query.limit);
  return found;
}

const columns: readonly Column<ListedAuditEntry>[] = [
  { heading: 'WHEN', cell: ({ atMs }) => `${toIsoTime(atMs)?.slice(0, 19).replace('T', ' ')}Z` },
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

function toJson({ id, atMs, actor, action, subject, account, before, after }: ListedAuditEntry) {
  return {
    id,
    at: toIsoTime(atMs),
    by: { kind: actor.kind, name: actor.name },
    action,
    subject,
    account,
    before,
    after,
  };
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= listedMax) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${listedMax}.`);
}
