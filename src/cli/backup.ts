import { stat } from 'node:fs/promises';
import { commandActor } from '../audit/audit-log.ts';
import { OperatorError, UsageError } from '../errors.ts';
import { formatBytes } from '../format.ts';
import { backupSqlite } from '../storage/sqlite/backup.ts';
import { restoreInPlace, restoreSqlite, skippedIdsUnknown } from '../storage/sqlite/restore.ts';
import { requireStore } from '../storage/sqlite/schema.ts';
import { vacuumSqlite } from '../storage/sqlite/vacuum.ts';
import { parseStoreAddress, requireNotStore } from '../storage/store-address.ts';
import { type AppCommand, printLines } from './command.ts';
import { recordOrWarn, writeWarning } from './output.ts';
import { writeWholeFile } from './whole-file.ts';

interface BackupOptions {
  readonly force: boolean;
}

export function addBackup(program: AppCommand): void {
  program
    .addLeaf('backup', 'copy the whole store to a file and check the copy, while the service runs (SQLite)')
    .withExamples('backup /var/backups/animal-store.db')
    .withNotes('To restore the copy, stop the service and run "animal-store restore".')
    .argument('<file>', 'the path of the copy')
    .option('--force', 'replace an existing file', false)
    .does(async ({ readConfig, withStore, terminal }, { force }: BackupOptions, file: string) => {
      if (file === '-') throw new UsageError('a backup cannot go to standard output: name a file');
      const { databaseUrl } = readConfig();
      const refusal = 'backup copies only SQLite stores; use pg_dump for PostgreSQL';
      const location = requireSqlite(databaseUrl, refusal);
      await requireStore(location);
      await checkUnused(file);
      await requireNotStore(file, databaseUrl);
      // A store has secrets, so only the owner of a copy may read it.
      const options = { replaces: force, mode: 0o600 };
      await writeWholeFile(file, options, (unfinished) => backupSqlite(location, unfinished));
      const { size: bytes } = await stat(file);
      await recordOrWarn(terminal, () =>
        withStore(({ audit }) => audit.record('store.backed_up', file, { bytes })),
      );
      const copied = `copied the store to ${file} (${formatBytes(bytes)}) and checked it`;
      return printLines({ file, bytes }, copied);
    });
}

export function addRestore(program: AppCommand): void {
  program
    .addLeaf('restore', 'replace the store with a backup, while no service runs (SQLite)')
    .withExamples('restore /var/backups/animal-store.db', 'restore --in-place')
    .withNotes(`The current content of the store is lost: back it up first. Ids assigned since
the backup are not used again. All positions in the event feed expire: readers
get 410 events_expired and must read the whole store again. After a snapshot of
the disk has brought an earlier store back, --in-place does this to the store.`)
    .argument('[file]', 'a file written by the backup command')
    .option('--in-place', 'keep the content of the store, which a snapshot of the disk brought back', false)
    .does(
      async ({ readConfig, clock, terminal }, { inPlace }: { readonly inPlace: boolean }, file?: string) => {
        if (inPlace === (file !== undefined)) throw new UsageError('name either a file or --in-place');
        const { databaseUrl } = readConfig();
        const refusal = 'restore works only with SQLite stores; use pg_restore for PostgreSQL';
        const store = requireSqlite(databaseUrl, refusal);
        const by = { actor: commandActor(), nowMs: clock() };
        const skipped = `the next ${skippedIdsUnknown} ids of each kind are skipped`;
        if (file === undefined) {
          await restoreInPlace(store, by);
          return printLines({ restored: store, store }, `restored the store ${store} in place: ${skipped}`);
        }
        await requireNotStore(file, databaseUrl);
        if (!(await restoreSqlite(store, file, by))) {
          writeWarning(terminal, `the ids assigned since the backup are unknown: ${skipped}`);
        }
        return printLines({ restored: file, store }, `restored the store ${store} from ${file}`);
      },
    );
}

export function addVacuum(program: AppCommand): void {
  program
    .addLeaf('vacuum', 'give unused pages of the store back to the disk, while the service runs (SQLite)')
    .withExamples('vacuum')
    .withNotes(`The reads of the service go on. Its writes wait, some seconds per gigabyte, and
get 503 after 10 s. The disk needs free space of twice the content.`)
    .does(async ({ readConfig }) => {
      const refusal = 'PostgreSQL needs no vacuum: autovacuum does it';
      const location = requireSqlite(readConfig().databaseUrl, refusal);
      await requireStore(location);
      const { before, after } = await vacuumSqlite(location);
      const back = formatBytes(Math.max(0, before - after));
      return printLines({ before, after }, `gave ${back} back: the store takes ${formatBytes(after)}`);
    });
}

function requireSqlite(databaseUrl: string, refusal: string): string {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') throw new OperatorError(refusal);
  return location;
}

/** Throws if SQLite would apply a write-ahead log or a rollback journal beside `file` to the copy. */
async function checkUnused(file: string): Promise<void> {
  for (const companion of [`${file}-wal`, `${file}-journal`]) {
    if ((await stat(companion).catch(() => null)) === null) continue;
    const reason = `is a database in use, or was not closed properly: ${companion} exists`;
    throw new OperatorError(`${file} ${reason}`);
  }
}
