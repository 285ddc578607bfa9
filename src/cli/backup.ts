import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { commandActor } from '../audit/audit-entry.ts';
import { OperatorError, UsageError } from '../errors.ts';
import { formatBytes } from '../observability/safe-text.ts';
import { requireNotStore } from '../storage/require-not-store.ts';
import { backupSqlite } from '../storage/sqlite/backup.ts';
import { requireStore } from '../storage/sqlite/require-store.ts';
import { restoreSqlite, skippedIdsUnknown } from '../storage/sqlite/restore.ts';
import { vacuumSqlite } from '../storage/sqlite/vacuum.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { addLeaf, type CommandContext, printLines } from './command.ts';
import { writeWarning } from './output.ts';
import { writeWholeFile } from './whole-file.ts';

export function addBackup(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'backup',
    'copy the whole store to a file and check the copy, while the service runs (SQLite)',
    ['backup /var/backups/animal-store.db'],
    'To restore the copy, stop the service and run "animal-store restore".',
  )
    .argument('<file>', 'the path of the copy')
    .option('--force', 'replace an existing file', false)
    .printing(context, async ({ force }: { readonly force: boolean }, file: string) => {
      const bytes = await backUp(context.readConfig().databaseUrl, file, force);
      await context.withStore(({ audit }) =>
        audit.record({ action: 'store.backed_up', subject: file, after: { bytes } }),
      );
      return printLines(
        { file, bytes },
        `copied the store to ${file} (${formatBytes(bytes)}) and checked it`,
      );
    });
}

/** A store has secrets, so only the owner of a copy may read it. */
const ownerOnly = 0o600;

/** Returns the size of the copy in bytes. */
async function backUp(databaseUrl: string, file: string, replaces: boolean): Promise<number> {
  if (file === '-') throw new UsageError('a backup cannot go to standard output: name a file');
  const location = requireSqlite(databaseUrl, 'backup copies only SQLite stores; use pg_dump for PostgreSQL');
  requireStore(location);
  await checkUnused(file);
  await requireNotStore(file, databaseUrl);
  await writeWholeFile(file, { replaces, mode: ownerOnly }, (unfinished) =>
    backupSqlite(location, unfinished),
  );
  return (await stat(file)).size;
}

export function addRestore(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'restore',
    'replace the store with a backup, while no service runs (SQLite)',
    ['restore /var/backups/animal-store.db'],
    `The current content of the store is lost: back it up first. Ids assigned since
the backup are not used again. All positions in the event feed expire: readers
get 410 events_expired and must read the whole store again.`,
  )
    .argument('<file>', 'a file written by the backup command')
    .printing(context, async (_options, file: string) => {
      const { databaseUrl } = context.readConfig();
      const store = requireSqlite(
        databaseUrl,
        'restore works only with SQLite stores; use pg_restore for PostgreSQL',
      );
      await requireNotStore(file, databaseUrl);
      const knowsGivenIds = await restoreSqlite(store, file, {
        actor: commandActor(),
        nowMs: context.clock(),
      });
      if (!knowsGivenIds) {
        const skipped = `the next ${skippedIdsUnknown} ids of each kind are skipped`;
        writeWarning(context.terminal, `the ids assigned since the backup are unknown: ${skipped}`);
      }
      return printLines({ restored: file, store }, `restored the store ${store} from ${file}`);
    });
}

export function addVacuum(program: Command, context: CommandContext): void {
  addLeaf(
    program,
    'vacuum',
    'give unused pages of the store back to the disk, while the service runs (SQLite)',
    ['vacuum'],
    `The reads of the service go on. Its writes wait, some seconds per gigabyte, and
get 503 after 10 s. The disk needs free space of twice the content.`,
  ).printing(context, async () => {
    const { databaseUrl } = context.readConfig();
    const location = requireSqlite(databaseUrl, 'PostgreSQL needs no vacuum: autovacuum does it');
    requireStore(location);
    const { before, after } = vacuumSqlite(location);
    const back = formatBytes(Math.max(0, before - after));
    return printLines({ before, after }, `gave ${back} back: the store takes ${formatBytes(after)}`);
  });
}

/** Returns the path of a SQLite store. Throws OperatorError with `refusal` for another store. */
function requireSqlite(databaseUrl: string, refusal: string): string {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') throw new OperatorError(refusal);
  return location;
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
