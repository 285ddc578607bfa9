import { rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { AuditAction, Authorship } from '../../audit/audit-log.ts';
import { OperatorError } from '../../errors.ts';
import { makeStoreFile } from '../durable-files.ts';
import { compareSchema } from '../migrations/migrate.ts';
import { toOpeningError } from '../store-errors.ts';
import { backupSqlite } from './backup.ts';
import { claimServing, isServed } from './claim-serving.ts';
import { lockWaitMsMax, newPageBytes, openReadOnly, repeatWhileBusy } from './connection.ts';
import { readMigrations } from './require-store.ts';

/** Number of ids that a restore skips in each table if the last ids of the old store cannot be read. */
export const skippedIdsUnknown = 1_000_000n;

/** Permissions to read and write for the owner of a file alone. */
const ownerOnly = 0o600;

/** The highest id that each table has assigned. */
type LastIds = ReadonlyMap<string, bigint>;

/**
 * Replaces the store at `path` with a backup, in one transaction. Ids and positions assigned since the backup are not
 * assigned again, and every position from before the restore expires. A new store gets the permissions of the backup. The
 * store has the schema of the backup, so that an older release can use it again. Its audit log says who restored it.
 * Returns false if the last ids of the old store were unreadable, so that `skippedIdsUnknown` ids were skipped. Throws
 * OperatorError, with nothing changed, if a service serves the store, or the file is no complete backup or of a newer
 * release.
 */
export async function restoreSqlite(path: string, file: string, by: Authorship): Promise<boolean> {
  if (isServed(path))
    throw new OperatorError(
      `the database ${path} is being served, migrated or restored: stop the service first`,
    );
  const mode = requireBackup(file) | ownerOnly;
  await makeStoreFile(path, mode);
  const release = await claimServing(`sqlite:${path}`);
  const copy = `${path}-restoring`;
  try {
    removeStore(copy);
    await makeStoreFile(copy, ownerOnly);
    backupSqlite(file, copy, readPageBytes(path));
    return await replaceStore(copy, path, (raw) => recordRestore(raw, file, by));
  } finally {
    removeStore(copy);
    release();
  }
}

/** Returns the permissions of the file. */
function requireBackup(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new OperatorError(`there is no file ${file}`);
  const schema = found.isFile() ? compareSchema(tryReadMigrations(file)) : 'none';
  if (schema === 'none') throw new OperatorError(`${file} is not a backup of a store`);
  if (schema === 'newer')
    throw new OperatorError(
      `${file} is a backup of a newer release: restore it with that release or a later one`,
    );
  return found.mode & 0o777;
}

/** A file that is no database has no migrations. */
function tryReadMigrations(file: string): string[] {
  try {
    return readMigrations(file);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    return [];
  }
}

/** Returns the page size of a store. A copy over a store in WAL mode needs the same page size. */
function readPageBytes(path: string): number {
  if (statSync(path).size === 0) return newPageBytes;
  try {
    const raw = openReadOnly(path);
    const found = raw.prepare('pragma page_size').get()?.['page_size'];
    raw.close();
    return Number(found);
  } catch {
    return newPageBytes;
  }
}

function readLastIds(raw: DatabaseSync): LastIds {
  const select = raw.prepare('select name, seq from sqlite_sequence');
  select.setReadBigInts(true);
  return new Map(select.all().map(({ name, seq }) => [String(name), seq as bigint]));
}

/** Makes a store assign new ids only after those already assigned. Deletes all events, so that readers start again. */
function skipGivenIds(raw: DatabaseSync, given: LastIds | null): void {
  raw.exec('begin immediate');
  const own = readLastIds(raw);
  const last = (name: string) => {
    const before = own.get(name) ?? 0n;
    if (given === null) return before + skippedIdsUnknown;
    const after = given.get(name) ?? 0n;
    return after > before ? after : before;
  };
  const names = new Set([...own.keys(), ...(given?.keys() ?? []), 'events']);
  // Skips one more position, so that a reader that has read all events must also start again.
  for (const name of names) writeLastId(raw, name, name === 'events' ? last(name) + 1n : last(name));
  if (hasTable(raw, 'event_horizon')) {
    raw.exec('delete from events');
    raw.prepare('update event_horizon set deleted_to = ?').run(last('events') + 1n);
  }
  raw.exec('commit');
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

function writeLastId(raw: DatabaseSync, name: string, id: bigint): void {
  const { changes } = raw.prepare('update sqlite_sequence set seq = ? where name = ?').run(id, name);
  if (changes === 0) raw.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(name, id);
}

/**
 * Copies a store over another under SQLite's own locks, in two steps. From the first step on, no command can write, so
 * the last ids of the old store are final between the steps. The new store then skips them: SQLite also copies what the
 * connection `source` writes during the copy.
 */
async function replaceStore(from: string, to: string, record: (raw: DatabaseSync) => void): Promise<boolean> {
  const source = new DatabaseSync(from);
  const old = openWhileWritten(to);
  const pages = Number(source.prepare('pragma page_count').get()?.['page_count']);
  let isKnown = false as boolean;
  const progress = () => {
    const given = tryReadLastIds(old);
    skipGivenIds(source, given);
    record(source);
    isKnown = given !== null;
  };
  try {
    await repeatWhileBusy(() => backup(source, to, { rate: pages - 1, progress }), lockWaitMsMax);
    return isKnown;
  } catch (error) {
    throw toOpeningError(to, error);
  } finally {
    old.close();
    source.close();
  }
}

/** Opens a store in WAL mode, in which it can be read during a write. A damaged store may refuse this mode. */
function openWhileWritten(path: string): DatabaseSync {
  const raw = new DatabaseSync(path, { timeout: 0 });
  try {
    raw.exec(`pragma page_size = ${newPageBytes}; pragma journal_mode = wal`);
  } catch {
    // The last ids of the store are then unknown.
  }
  return raw;
}

function tryReadLastIds(raw: DatabaseSync): LastIds | null {
  try {
    return readLastIds(raw);
  } catch {
    return null;
  }
}

function removeStore(path: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(path + ending, { force: true });
}
