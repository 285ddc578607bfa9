import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { OperatorError } from '../errors.ts';
import { toOpeningError } from '../storage/opening-error.ts';
import { backupSqlite } from '../storage/sqlite/backup.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine } from './output.ts';
import { writeWholeFile } from './whole-file.ts';

/** `backup`: copies the whole store to a file, while the service runs. */
export function backupCommand({ readConfig, terminal }: CommandContext): Command {
  return new Command('backup')
    .description('copy the whole store to a file and check the copy, while the service runs (SQLite)')
    .argument('<file>', 'where the copy is put')
    .option('--force', 'replace a file that is there', false)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
To restore, stop the service, put the file in the place of the store, remove the
-wal and -shm beside it, and start.

Example:
  animal-store backup /var/backups/animal-store.db`,
    )
    .action(async (file: string, { force, json }: JsonOption & { readonly force: boolean }) => {
      const { engine, location } = parseStoreAddress(readConfig().databaseUrl);
      if (engine !== 'sqlite')
        throw new OperatorError('backup copies a SQLite store; use pg_dump for one in PostgreSQL');
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

/** The permissions of a store, which its copy gets too: whoever may not read the one may not read the other. */
async function readMode(location: string): Promise<number> {
  const found = await stat(location).catch((error) => Promise.reject(toOpeningError(location, error)));
  return found.mode & 0o777;
}

/** What stands beside a store while it is open, or after a kill, would be taken for part of a file put in its place. */
async function checkUnused(file: string): Promise<void> {
  for (const companion of [`${file}-wal`, `${file}-journal`])
    if ((await stat(companion).catch(() => null)) !== null)
      throw new OperatorError(`${file} is a database in use, or was left by a kill: there is ${companion}`);
}
