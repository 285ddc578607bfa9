import { Command } from 'commander';
import { OperatorError } from '../errors.ts';
import { restoreSqlite, skippedIdsUnknown } from '../storage/sqlite/restore.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine, writeWarning } from './output.ts';

export function restoreCommand({ readConfig, terminal }: CommandContext): Command {
  return new Command('restore')
    .description('replace the store with a backup, while no service runs (SQLite)')
    .argument('<file>', 'a file written by the backup command')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
The current content of the store is lost: back it up first. Ids assigned since
the backup are not used again. All positions in the event feed expire: readers
get 410 events_expired and must read the whole store again.

Example:
  animal-store restore /var/backups/animal-store.db`,
    )
    .action(async (file: string, { json }: JsonOption) => {
      const { engine, location } = parseStoreAddress(readConfig().databaseUrl);
      if (engine !== 'sqlite')
        throw new OperatorError('restore works only with SQLite stores; use pg_restore for PostgreSQL');
      const { knowsGivenIds } = await restoreSqlite(location, file);
      if (!knowsGivenIds)
        writeWarning(
          terminal,
          `the ids assigned since the backup are unknown: the next ${skippedIdsUnknown} ids of each kind are skipped`,
        );
      if (json) writeJson(terminal, { restored: file, store: location });
      else writeLine(terminal, `restored the store ${location} from ${file}`);
    });
}
