import type { Command } from 'commander';
import type { ListedBan } from '../limits/bans.ts';
import { soon } from './arguments.ts';
import { addGroup, addLeaf, type CommandContext, printLines, printTable } from './command.ts';
import { formatTime, toIsoTime } from './output.ts';
import type { Column } from './table.ts';

export function addBans(program: Command, context: CommandContext): void {
  const bans = addGroup(program, 'bans', 'list the bans of keys and lift them');
  addLeaf(bans, 'list', 'list the banned keys; the ban that expires first comes first', [
    'bans list',
    'bans list --json',
  ]).printing(context, async () =>
    printTable(await context.withStore((store) => store.bans.list()), columns, toJson),
  );
  addLeaf(bans, 'lift', `lift the ban of a key; ${soon}`, ['bans lift key_3kTMd8fZq1LxW0aB'])
    .argument('<key>', 'the id of the key, as shown by "bans list"')
    .printing(context, async (_options, keyId: string) => {
      await context.withStore((store) => store.bans.lift(keyId));
      return printLines({ keyId, lifted: true }, `the ban of ${keyId} is lifted`);
    });
}

const columns: readonly Column<ListedBan>[] = [
  { heading: 'KEY', cell: ({ keyId }) => keyId },
  { heading: 'NAME', cell: ({ keyName }) => keyName ?? '-', leavesAt: 1 },
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'BANNED SINCE', cell: ({ beganAtMs }) => formatTime(beganAtMs), leavesAt: 2 },
  { heading: 'BANNED UNTIL', cell: ({ endsAtMs }) => formatTime(endsAtMs) },
];

function toJson({ keyId, visibleStart: start, keyName: name, account, beganAtMs, endsAtMs }: ListedBan) {
  return { keyId, start, name, account, since: toIsoTime(beganAtMs), until: toIsoTime(endsAtMs) };
}
