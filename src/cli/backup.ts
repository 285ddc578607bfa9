import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Option } from 'commander';
import { OperatorError, UsageError } from '../errors.ts';
import { formatBytes } from '../format.ts';
import { makeStoreFile } from '../storage/durable-files.ts';
import { backupSqlite } from '../storage/sqlite/backup.ts';
import { requireStore } from '../storage/sqlite/schema.ts';
import { vacuumSqlite } from '../storage/sqlite/vacuum.ts';
import { parseStoreAddress, requireNotStore } from '../storage/store-address.ts';
import { type AppCommand, type CommandContext, type Printed, printLines } from './command.ts';
import { countThings, recordOrWarn, writeToEnd } from './output.ts';
import { parseCountUpTo } from './parsers.ts';
import { writeWholeFile } from './whole-file.ts';

interface BackupOptions {
  readonly force: boolean;
  readonly to?: string;
  readonly keep?: number;
  readonly record?: string;
}

/** Number of backups that a folder keeps by default, and at most. */
const keptDefault = 7;
const keptMax = 1_000;

export function addBackup(program: AppCommand): void {
  const backup: AppCommand = program
    .addLeaf('backup', 'copy the whole store to a file and check the copy, while the service runs (SQLite)')
    .withExamples(
      'backup /var/backups/animal-store.db',
      'backup --to /var/backups/animal-store --keep 14',
      'backup - | zstd | aws s3 cp - s3://bucket/animal-store-$(date +%F).db.zst',
      'backup --record animal-store.dump',
    )
    .withNotes(`With --to, the file is named for its time, and beyond --keep the oldest of the
files that are so named are deleted. With -, the checked copy goes to standard
output. For PostgreSQL, use pg_dump, and then --record, so that the metric and
"doctor" know of it. A path must be that of a file; a name alone may also be of
a file on another machine. To restore, stop the service and run
"animal-store restore".`)
    .argument('[file]', 'the path of the copy, or - for standard output')
    .option('--force', 'replace an existing file', false)
    .option('--to <folder>', 'add a backup to this folder')
    .addOption(
      new Option(
        '--keep <count>',
        `with --to: how many backups the folder keeps (default: ${keptDefault})`,
      ).argParser(parseCountUpTo(keptMax)),
    )
    .option('--record <name>', 'make no copy: note that another program has made a backup');
  backup.does(async (context, options: BackupOptions, file?: string) => {
    const { to, keep, record } = options;
    if ([file, to, record].filter((place) => place !== undefined).length !== 1)
      throw new UsageError('name one of: a file, --to or --record');
    if (to === undefined && keep !== undefined) throw new UsageError('--keep needs --to');
    if (record !== undefined) return noteBackup(context, record);
    if (file === '-') return streamBackup(context, backup.opts()['json'] === true);
    if (to !== undefined) return addToFolder(context, to, keep ?? keptDefault);
    return backUp(context, file ?? '', options.force);
  });
}

async function noteBackup({ withStore }: CommandContext, name: string): Promise<Printed> {
  if (name === '') throw new UsageError('--record needs a name');
  const found = await stat(name).catch(() => null);
  // The file may be on another machine, and then only a name is given.
  if (found === null && basename(name) !== name) throw new OperatorError(`there is no file ${name}`);
  const bytes = found?.isFile() ? found.size : null;
  await withStore(({ audit }) => audit.record('store.backed_up', name, { bytes }));
  const where = found === null ? ', a name without a file in this folder' : '';
  return printLines({ recorded: name, bytes }, `noted the backup ${name}${where}`);
}

async function backUp(context: CommandContext, file: string, force: boolean): Promise<Printed> {
  const location = await requireSource(context);
  const bytes = await writeBackup(context, location, file, force);
  return printLines({ file, bytes }, describeCopy(file, bytes));
}

/** Adds a backup to a folder, and then deletes the oldest ones of those that this command has named. */
async function addToFolder(context: CommandContext, folder: string, keep: number): Promise<Printed> {
  const location = await requireSource(context);
  const time = new Date(context.clock()).toISOString().replaceAll(/[:.]/g, '-');
  const file = join(folder, `animal-store-${time}.db`);
  const bytes = await writeBackup(context, location, file, false);
  const names = (await readdir(folder)).filter((name) => namedBackup.test(name)).sort();
  // The new backup is kept in any case. If the clock was wrong, others may have later names.
  const others = names.filter((name) => name !== basename(file));
  const deletedMax = Math.max(0, others.length + 1 - keep);
  const deleted = others.slice(0, deletedMax).map((name) => join(folder, name));
  for (const old of deleted) await rm(old);
  const rest = deleted.length === 0 ? [] : [`deleted ${countThings(deleted.length, 'older backup')}`];
  return printLines({ file, bytes, deleted }, describeCopy(file, bytes), ...rest);
}

/** The names sort by time. */
const namedBackup = /^animal-store-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/;

const describeCopy = (file: string, bytes: number) =>
  `copied the store to ${file} (${formatBytes(bytes)}) and checked it`;

/** Writes the checked copy to standard output. It is made beside the store first, because SQLite needs a file for it. */
async function streamBackup(context: CommandContext, isJson: boolean): Promise<Printed> {
  const { stdout } = context.terminal;
  if (isJson) throw new UsageError('a backup to standard output leaves no room for --json');
  if (stdout.isTTY)
    throw new UsageError('a backup does not go to a terminal: name a file, or pipe it to a program');
  const location = await requireSource(context);
  const copy = `${location}.${randomUUID()}.tmp`;
  try {
    await makeStoreFile(copy);
    await backupSqlite(location, copy);
    const { size: bytes } = await stat(copy);
    if (await writeToEnd(createReadStream(copy), stdout)) await noteCopy(context, '-', bytes);
  } finally {
    await rm(copy, { force: true });
  }
  return printLines(null);
}

/** Returns the path of the store. Throws OperatorError if it is not one of SQLite that can be read. */
async function requireSource({ readConfig }: CommandContext): Promise<string> {
  const refusal = 'backup copies only SQLite stores; use pg_dump for PostgreSQL';
  const location = requireSqlite(readConfig().databaseUrl, refusal);
  await requireStore(location);
  return location;
}

async function writeBackup(
  context: CommandContext,
  location: string,
  file: string,
  replaces: boolean,
): Promise<number> {
  await checkUnused(file);
  await requireNotStore(file, context.readConfig().databaseUrl);
  // A store has secrets, so only the owner of a copy may read it.
  await writeWholeFile(file, { replaces, mode: 0o600 }, (unfinished) => backupSqlite(location, unfinished));
  const { size: bytes } = await stat(file);
  await noteCopy(context, file, bytes);
  return bytes;
}

const noteCopy = ({ terminal, withStore }: CommandContext, file: string, bytes: number) =>
  recordOrWarn(terminal, () => withStore(({ audit }) => audit.record('store.backed_up', file, { bytes })));

export function addVacuum(program: AppCommand): void {
  program
    .addLeaf('vacuum', 'give unused pages of the store back to the disk, while the service runs (SQLite)')
    .withExamples('vacuum')
    .withNotes(`The reads of the service go on. Its writes wait, some seconds per gigabyte, and
get 503 after 10 s. The disk needs free space of twice the content.`)
    .does(async ({ readConfig, withStore, terminal }) => {
      const refusal = 'PostgreSQL needs no vacuum: autovacuum does it';
      const location = requireSqlite(readConfig().databaseUrl, refusal);
      await requireStore(location);
      const { before, after } = await vacuumSqlite(location);
      await recordOrWarn(terminal, () =>
        withStore(({ audit }) => audit.record('store.vacuumed', location, { before, after })),
      );
      const back = formatBytes(Math.max(0, before - after));
      return printLines({ before, after }, `gave ${back} back: the store takes ${formatBytes(after)}`);
    });
}

/** Returns the path of the store. Throws OperatorError with `refusal` on another engine. */
export function requireSqlite(databaseUrl: string, refusal: string): string {
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
