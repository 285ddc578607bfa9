import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { OperatorError } from '../errors.ts';
import { toOpeningError } from '../storage/opening-error.ts';
import { requireStore } from '../storage/require-store.ts';
import { backupSqlite } from '../storage/sqlite/backup.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine } from './output.ts';
import { writeWholeFile } from './whole-file.ts';

export function backupCommand({ readConfig, terminal }: CommandContext): Command {
  return new Command('backup')
    .description('copy the whole store to a file and check the copy, while the service runs (SQLite)')
    .argument('<file>', 'the path of the copy')
    .option('--force', 'replace an existing file', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
To restore the copy, stop the service and run "animal-store restore".

Example:
  animal-store backup /var/backups/animal-store.db`,
    )
    .action(async (file: string, { force, json }: JsonOption & { readonly force: boolean }) => {
      const { databaseUrl } = readConfig();
      const { engine, location } = parseStoreAddress(databaseUrl);
      if (engine !== 'sqlite')
        throw new OperatorError('backup copies only SQLite stores; use pg_dump for PostgreSQL');
      await requireStore(databaseUrl);
      await checkUnused(file);
      const mode = await readMode(location);
      await writeWholeFile(file, { replaces: force, mode }, (unfinished) =>
        backupSqlite(location, unfinished),
      );
      const { size } = await stat(file);
      if (json) writeJson(terminal, { file, bytes: size });
      else
        writeLine(
          terminal,
          `copied the store to ${file} (${(size / 2 ** 20).toFixed(1)} MiB) and checked it`,
        );
    });
}

/** Returns the permissions of the store. The copy gets the same permissions, so that the same users can read it. */
async function readMode(location: string): Promise<number> {
  const found = await stat(location).catch((error) => Promise.reject(toOpeningError(location, error)));
  return found.mode & 0o777;
}

/**
 * Throws if a write-ahead log or a rollback journal is beside `file`. SQLite would apply this log or journal to the
 * copy.
 */
async function checkUnused(file: string): Promise<void> {
  for (const companion of [`${file}-wal`, `${file}-journal`])
    if ((await stat(companion).catch(() => null)) !== null)
      throw new OperatorError(
        `${file} is a database in use, or was not closed properly: ${companion} exists`,
      );
}
