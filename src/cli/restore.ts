import { Command } from 'commander';
import { OperatorError } from '../errors.ts';
import { restoreSqlite, skippedIdsUnknown } from '../storage/sqlite/restore.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine, writeWarning } from './output.ts';

/** `restore`: replaces the store by a backup. */
export function restoreCommand({ readConfig, terminal }: CommandContext): Command {
  return new Command('restore')
    .description('replace the store by a backup, while no service runs (SQLite)')
    .argument('<file>', 'a file that backup has written')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
The current content of the store is lost: back it up first. Ids that the store
has assigned since the backup are never used again. The feed of events starts
again: readers get 410 events_expired and read the store again.

Example:
  animal-store restore /var/backups/animal-store.db`,
    )
    .action(async (file: string, { json }: JsonOption) => {
      const { engine, location } = parseStoreAddress(readConfig().databaseUrl);
      if (engine !== 'sqlite')
        throw new OperatorError('restore puts back a SQLite store; use pg_restore for one in PostgreSQL');
      const { knowsGivenIds } = await restoreSqlite(location, file);
      if (!knowsGivenIds)
        writeWarning(
          terminal,
          `the ids assigned since the backup are unknown: the next ${skippedIdsUnknown} of each kind are skipped`,
        );
      if (json) writeJson(terminal, { restored: file, store: location });
      else writeLine(terminal, `restored the store ${location} from ${file}`);
    });
}
