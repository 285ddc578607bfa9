import { Command } from 'commander';
import type { ListedBan } from '../limits/bans.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { formatTime, toIsoTime, writeJson, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';

export function bansCommand(context: CommandContext): Command {
  return new Command('bans')
    .description('list the bans of keys and lift them')
    .addCommand(listCommand(context))
    .addCommand(liftCommand(context))
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store bans list\n  animal-store bans lift key_3kTMd8fZq1LxW0aB',
    );
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list the banned keys; the ban that expires first comes first')
    .addOption(jsonOption)
    .addHelpText('after', '\nExamples:\n  animal-store bans list\n  animal-store bans list --json')
    .action(async ({ json }: JsonOption) => {
      const found = await withStore(({ bans }) => bans.list());
      if (json) writeJson(terminal, found.map(toJson));
      else writeColumns(terminal, columns, found);
    });
}

function liftCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('lift')
    .description('lift the ban of a key; effective within 2 seconds (5 with several instances)')
    .argument('<key>', 'the id of the key, as shown by "bans list"')
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store bans lift key_3kTMd8fZq1LxW0aB')
    .action(async (keyId: string, { json }: JsonOption) => {
      await withStore(({ bans }) => bans.lift(keyId));
      if (json) writeJson(terminal, { keyId, lifted: true });
      else writeLine(terminal, `the ban of ${keyId} is lifted`);
    });
}

const columns: readonly Column<ListedBan>[] = [
  { heading: 'KEY', cell: ({ keyId }) => keyId },
  { heading: 'NAME', cell: ({ keyName }) => keyName ?? '-', leavesAt: 1 },
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'BANNED SINCE', cell: ({ beganAtMs }) => formatTime(beganAtMs), leavesAt: 2 },
  { heading: 'BANNED UNTIL', cell: ({ endsAtMs }) => formatTime(endsAtMs) },
];

function toJson({ keyId, visibleStart, keyName, account, beganAtMs, endsAtMs }: ListedBan) {
  return {
    keyId,
    start: visibleStart,
    name: keyName,
    account,
    since: toIsoTime(beganAtMs),
    until: toIsoTime(endsAtMs),
  };
}
