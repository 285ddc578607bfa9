import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../audit/audit-entry.ts';
import type { ListedAuditEntry } from '../audit/audit-log.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { limitOption, parseAccountName, readRows, type Since, sinceOption } from './arguments.ts';
import { addLeaf, type CommandContext, printTable } from './command.ts';
import { toIsoTime } from './output.ts';
import type { Column } from './table.ts';

interface AuditOptions {
  readonly account?: string;
  readonly by?: string;
  readonly action?: AuditAction;
  readonly of?: string;
  readonly since?: Since;
  readonly limit: number;
}

export function addAudit(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'audit',
    'show who changed what, and when: by command, in the console or with a key',
    ['audit', 'audit --account "Acme Zoo" --since 7d', 'audit --of key_3kTMd8fZq1LxW0aB --json'],
    'The newest change comes first. The store keeps changes for one year.',
  )
    .option('--account <name>', 'only changes of this account and of what it owns', parseAccountName)
    .option('--by <actor>', 'only changes by this system user, key or console session')
    .addOption(new Option('--action <action>', 'only changes of this kind').choices(auditActions))
    .option(
      '--of <subject>',
      'only changes of this object: the name of an account, or the id of any other object',
    )
    .addOption(sinceOption('changes'))
    .addOption(limitOption('changes'))
    .printing(context, async ({ by, of, since, limit, ...filters }: AuditOptions) => {
      const sinceMs = since?.(context.clock());
      const query = { ...filters, actor: by, subject: of, sinceMs };
      const found = await context.withStore(({ audit }) =>
        readRows(limit, (newestId, rows) => audit.list({ ...query, limit: rows, newestId })),
      );
      return printTable(found, columns, toJson);
    });
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
  const by = { kind: actor.kind, name: actor.name };
  return { id, at: toIsoTime(atMs), by, action, subject, account, before, after };
}
