import { Command } from 'commander';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine } from './output.ts';

interface MigrateOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
}

export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('update the schema of the store, as every start does, or move the store')
    .option('--from <address>', 'move the store at this address')
    .option('--to <address>', 'move the store to this address, which must have an empty store or no store')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
An address is sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE. The
password is percent-encoded. It can also be in PGPASSWORD. A move copies the
store. Changes to the old store after the start of the move are not copied.

Examples:
  animal-store migrate
  animal-store migrate --from sqlite:./data/animal-store.db --to postgres://user@db.example.com/animals`,
    )
    .action(async ({ from, to, json }: MigrateOptions, command: Command) => {
      if (from !== undefined && to !== undefined) {
        const { moveStore } = await import('./move-store.ts');
        return moveStore({ from, to, json: json ?? false }, context.terminal);
      }
      if (from !== to) command.error('error: --from and --to must be used together');
      return bringUpToDate(context, json);
    });
}

async function bringUpToDate({ withStore, terminal }: CommandContext, json?: true): Promise<void> {
  const engine = await withStore(async ({ database }) => database.engine, { makesStore: true });
  if (json) writeJson(terminal, { engine, schema: 'newest' });
  else writeLine(terminal, `the ${engine} store has the newest schema`);
}
