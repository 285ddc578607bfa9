import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../audit/audit-entry.ts';
import type { ListedAuditEntry } from '../audit/audit-log.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { limitOption, type Options, parseAccountName, sinceOption } from './arguments.ts';
import { addLeaf, type CommandContext, printTable } from './command.ts';
import { formatSecond, withIsoTimes } from './output.ts';
import type { Column } from './table.ts';

interface AuditOptions extends Options {
  readonly by?: string;
  readonly action?: AuditAction;
  readonly of?: string;
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
    .printing(context, async ({ by, of, since, ...options }: AuditOptions) => {
      const query = { ...options, actor: by, subject: of, sinceMs: since?.(context.clock()), newestId: null };
      const { items } = await context.withStore(({ audit }) => audit.list(query));
      return printTable(items, columns, ({ actor: by, ...entry }) => withIsoTimes({ ...entry, by }));
    });
}

const columns: readonly Column<ListedAuditEntry>[] = [
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
