import { existsSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { AuditAction, Authorship } from '../../audit/audit-log.ts';
import { OperatorError } from '../../errors.ts';
import { makeStoreFile } from '../durable-files.ts';
import { compareSchema, requireSchema } from '../migrations/migrate.ts';
import { toOpeningError } from '../store-errors.ts';
import { backupSqlite } from './backup.ts';
import { claimServing, isServed, requireOneName } from './claim-serving.ts';
import { isBusy, lockWaitMsMax, newPageBytes, openConnection, repeatWhileBusy } from './connection.ts';
import { readMigrations } from './schema.ts';

/** Number of ids that a restore skips in each table if the last ids of the old store cannot be read. */
export const skippedIdsUnknown = 1_000_000n;

const ownerOnly = 0o600;

/**
 * Replaces the store at `path` with a backup and its schema, in one transaction. Ids and positions assigned since the
 * backup are not assigned again, and every position from before the restore expires. A new store gets the permissions of
 * the backup. Returns false if the last ids of the old store were unreadable, so that `skippedIdsUnknown` ids were
 * skipped. Throws OperatorError, with nothing changed, if a service serves the store, or the file is no complete backup
 * or of a newer release.
 */
export async function restoreSqlite(path: string, file: string, by: Authorship): Promise<boolean> {
  requireUnserved(path);
  const mode = (await requireBackup(file)) | ownerOnly;
  await makeStoreFile(path, mode);
  const release = await claimServing(`sqlite:${path}`);
  const copy = `${path}-restoring`;
  try {
    using old = openWhileWritten(path);
    removeStore(copy);
    await makeStoreFile(copy, ownerOnly);
    // A copy over a store in WAL mode needs the same page size.
    const pageBytes = orNull(() => Number(old.prepare('pragma page_size').get()?.['page_size']));
    await backupSqlite(file, copy, pageBytes ?? newPageBytes);
    return await replaceStore(copy, path, old, (raw) => recordRestore(raw, file, by));
  } finally {
    removeStore(copy);
    release();
  }
}

/**
 * Does to a store whose own file is an earlier copy of it, such as that of a snapshot of the disk, what `restoreSqlite` does
 * if the last ids are unknown. Its other content stays. Throws OperatorError, with nothing changed, if a service serves the
 * store, or there is none that this release can read.
 */
export async function restoreInPlace(path: string, by: Authorship): Promise<void> {
  requireUnserved(path);
  if (!existsSync(path)) throw new OperatorError(`there is no store ${path}`);
  await requireOneName(path);
  const release = await claimServing(`sqlite:${path}`);
  try {
    if (requireSchema(await readMigrations(path), path, true) === 'none')
      throw new OperatorError(`${path} is not a store`);
    using raw = openConnection(path, lockWaitMsMax).raw;
    startAnew(raw, null, () => recordRestore(raw, path, by));
  } catch (error) {
    throw toOpeningError(path, error);
  } finally {
    release();
  }
}

function requireUnserved(path: string): void {
  if (isServed(path))
    throw new OperatorError(
      `the database ${path} is being served, migrated or restored: stop the service first`,
    );
}

async function requireBackup(file: string): Promise<number> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new OperatorError(`there is no file ${file}`);
  const migrations = found.isFile() ? await readMigrations(file).catch(noneUnlessRefused) : [];
  const schema = compareSchema(migrations);
  if (schema === 'none') throw new OperatorError(`${file} is not a backup of a store`);
  if (schema === 'newer')
    throw new OperatorError(
      `${file} is a backup of a newer release: restore it with that release or a later one`,
    );
  return found.mode & 0o777;
}

/** A file that is no database has no migrations. */
function noneUnlessRefused(error: unknown): string[] {
  if (error instanceof OperatorError) throw error;
  return [];
}

/** Opens a store in WAL mode, in which it can be read during a write. A damaged store may refuse this mode. */
function openWhileWritten(path: string): DatabaseSync {
  try {
    const raw = new DatabaseSync(path, { timeout: 0 });
    orNull(() => raw.exec(`pragma page_size = ${newPageBytes}; pragma journal_mode = wal`));
    return raw;
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/**
 * Copies a store over another under SQLite's own locks, in two steps. From the first step on, no command can write, so
 * the last ids of the old store are final between the steps. The new store then skips them: SQLite also copies what the
 * connection `source` writes during the copy.
 */
async function replaceStore(
  from: string,
  to: string,
  old: DatabaseSync,
  record: (raw: DatabaseSync) => void,
): Promise<boolean> {
  using source = new DatabaseSync(from);
  const pages = Number(source.prepare('pragma page_count').get()?.['page_count']);
  let isKnown = false as boolean;
  const progress = () => {
    const given = orNull(() => readLastIds(old));
    startAnew(source, given, () => record(source));
    isKnown = given !== null;
  };
  try {
    await repeatWhileBusy(() => backup(source, to, { rate: pages - 1, progress }), lockWaitMsMax);
    return isKnown;
  } catch (error) {
    // Node's error for a lock has the message "not an error".
    throw toOpeningError(to, isBusy(error) ? new Error('database is locked', { cause: error }) : error);
  }
}

function readLastIds(raw: DatabaseSync): ReadonlyMap<string, bigint> {
  const select = raw.prepare('select name, seq from sqlite_sequence');
  select.setReadBigInts(true);
  return new Map(select.all().map(({ name, seq }) => [String(name), seq as bigint]));
}

/**
 * Makes a store assign new ids only after those already assigned, which are unknown if `given` is null. Deletes all events,
 * so that readers start again.
 */
function startAnew(raw: DatabaseSync, given: ReadonlyMap<string, bigint> | null, record: () => void): void {
  raw.exec('begin immediate');
  const own = readLastIds(raw);
  for (const name of new Set([...own.keys(), ...(given?.keys() ?? []), 'events'])) {
    const before = own.get(name) ?? 0n;
    const after = given === null ? before + skippedIdsUnknown : (given.get(name) ?? 0n);
    const last = after > before ? after : before;
    // Skips one more position, so that a reader that has read all events must also start again.
    setLastId(raw, name, name === 'events' ? last + 1n : last);
  }
  if (hasTable(raw, 'event_horizon'))
    raw.exec(`delete from events;
      update event_horizon set deleted_to = (select seq from sqlite_sequence where name = 'events')`);
  record();
  raw.exec('commit');
}

/** Makes a table assign new ids only after this id. */
export function setLastId(raw: DatabaseSync, table: string, id: bigint): void {
  raw.prepare('delete from sqlite_sequence where name = ?').run(table);
  raw.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, id);
}

/** A store of an early release lacks some tables. */
function hasTable(raw: DatabaseSync, name: string): boolean {
  return raw.prepare('select 1 from sqlite_schema where name = ?').get(name) !== undefined;
}

function recordRestore(raw: DatabaseSync, file: string, { actor, nowMs }: Authorship): void {
  if (!hasTable(raw, 'audit')) return;
  raw
    .prepare('insert into audit (at_ms, actor_kind, actor, action, subject) values (?, ?, ?, ?, ?)')
    .run(nowMs, actor.kind, actor.name, 'store.restored' satisfies AuditAction, file);
}

function removeStore(path: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(path + ending, { force: true });
}
