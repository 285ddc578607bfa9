import { Command } from 'commander';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine } from './output.ts';

interface MigrateOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
}

/** `migrate`: brings the store to the newest schema, as every start does too, or moves a store to another database. */
export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('bring the store to the newest schema, as every start does too, or move one')
    .option('--from <address>', 'move the store at this address')
    .option('--to <address>', 'to this one, where there must be none yet, or an empty one')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
An address is sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE; a
password can stand in PGPASSWORD instead. What is written to the old store after
the start of a move is not moved.

Examples:
  animal-store migrate
  animal-store migrate --from sqlite:./data/animal-store.db --to postgres://user@db.example.com/animals`,
    )
    .action(async ({ from, to, json }: MigrateOptions, command: Command) => {
      if (from !== undefined && to !== undefined) {
        const { moveStore } = await import('./move-store.ts');
        return moveStore({ from, to, json: json ?? false }, context.terminal);
      }
      if (from !== to) command.error('error: --from and --to go together');
      return bringUpToDate(context, json);
    });
}

async function bringUpToDate({ withStore, terminal }: CommandContext, json?: true): Promise<void> {
  const engine = await withStore(async ({ database }) => database.engine);
  if (json) writeJson(terminal, { engine, schema: 'newest' });
  else writeLine(terminal, `the ${engine} store has the newest schema`);
}
