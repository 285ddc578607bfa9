import { existsSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { AuditAction, Authorship } from '../../audit/audit-log.ts';
import { OperatorError } from '../../errors.ts';
import { makeStoreFile } from '../durable-files.ts';
import { compareSchema, requireSchema } from '../migrations/migrate.ts';
import { restoringEnding } from '../store-address.ts';
import { toOpeningError } from '../store-errors.ts';
import { backupSqlite } from './backup.ts';
import { claimServing, isServed, requireOneName } from './claim-serving.ts';
import { isBusy, lockWaitMsMax, newPageBytes, openConnection, repeatWhileBusy } from './connection.ts';
import { readMigrations } from './schema.ts';

/** Number of ids that a restore skips in each table if the last ids of the old store cannot be read. */
export const skippedIdsUnknown = 1_000_000n;

/** What an operator should know after a restore. */
export interface Restored {
  /** Number of webhooks that are on hold. */
  readonly webhooksOnHold: number;
  /**
   * The keys that work now, and in the old store did not or ended earlier. Null if the old store was unreadable. Then its
   * last ids were unknown, too, and `skippedIdsUnknown` ids were skipped.
   */
  readonly keysThatWorkAgain: readonly RevivedKey[] | null;
  /** Number of sessions and tokens of operators that the restore has ended. */
  readonly sessionsEnded: number;
  /**
   * The names of the operators that the old store did not have, or had in another role. If the old store was unreadable or was
   * the same file, all operators.
   */
  readonly operatorsToCheck: readonly string[];
}

interface RevivedKey {
  readonly id: string;
  /** The name of the account. */
  readonly account: string;
}

/** What a restore needs of the store that it replaces. */
interface Former {
  readonly lastIds: ReadonlyMap<string, bigint>;
  readonly keys: ReturnType<typeof readWorkingKeys>;
  /** The roles by the names of the operators. */
  readonly operators: ReadonlyMap<string, string>;
}

/**
 * Replaces the store at `path` with a backup and its schema, in one transaction. Ids and positions assigned since the
 * backup are not assigned again, every position from before the restore expires, and webhooks are on hold. Throws
 * OperatorError, with nothing changed, if a service serves the store, or the file is incomplete or a backup of a newer release.
 */
export async function restoreSqlite(path: string, file: string, by: Authorship): Promise<Restored> {
  requireUnserved(path);
  await requireBackup(file);
  await makeStoreFile(path);
  const release = await claimServing(`sqlite:${path}`);
  const copy = path + restoringEnding;
  try {
    using old = openWhileWritten(path);
    removeStore(copy);
    await makeStoreFile(copy);
    // A copy over a store in WAL mode needs the same page size.
    const pageBytes = orNull(() => Number(old.prepare('pragma page_size').get()?.['page_size']));
    await backupSqlite(file, copy, pageBytes ?? newPageBytes);
    return await replaceStore(copy, path, old, (raw) => recordRestore(raw, file, by), by.nowMs);
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
export async function restoreInPlace(path: string, by: Authorship): Promise<Restored> {
  requireUnserved(path);
  if (!existsSync(path)) throw new OperatorError(`there is no store ${path}`);
  await requireOneName(path);
  const release = await claimServing(`sqlite:${path}`);
  try {
    if (requireSchema(await readMigrations(path), path, true) === 'none')
      throw new OperatorError(`${path} is not a store`);
    using raw = openConnection(path, lockWaitMsMax).raw;
    const begun = startAnew(raw, null, () => recordRestore(raw, path, by));
    return { ...begun, keysThatWorkAgain: null, operatorsToCheck: [...readOperators(raw).keys()] };
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

async function requireBackup(file: string): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new OperatorError(`there is no file ${file}`);
  const migrations = found.isFile() ? await readMigrations(file).catch(noneUnlessRefused) : [];
  const schema = compareSchema(migrations);
  if (schema === 'none') throw new OperatorError(`${file} is not a backup of a store`);
  if (schema === 'newer')
    throw new OperatorError(
      `${file} is a backup of a newer release: restore it with that release or a later one`,
    );
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
  nowMs: number,
): Promise<Restored> {
  using source = new DatabaseSync(from);
  const pages = Number(source.prepare('pragma page_count').get()?.['page_count']);
  let restored: Restored = {
    webhooksOnHold: 0,
    keysThatWorkAgain: null,
    sessionsEnded: 0,
    operatorsToCheck: [],
  };
  const progress = () => {
    const former = orNull(() => readFormer(old));
    const begun = startAnew(source, former?.lastIds ?? null, () => record(source));
    restored = {
      ...begun,
      keysThatWorkAgain: former && listRevived(source, former.keys, nowMs),
      operatorsToCheck: [...readOperators(source)]
        .filter(([name, role]) => former?.operators.get(name) !== role)
        .map(([name]) => name),
    };
  };
  try {
    await repeatWhileBusy(() => backup(source, to, { rate: pages - 1, progress }), lockWaitMsMax);
    return restored;
  } catch (error) {
    // Node's error for a lock has the message "not an error".
    throw toOpeningError(to, isBusy(error) ? new Error('database is locked', { cause: error }) : error);
  }
}

function readFormer(raw: DatabaseSync): Former {
  return { lastIds: readLastIds(raw), keys: readWorkingKeys(raw), operators: readOperators(raw) };
}

function readOperators(raw: DatabaseSync): Former['operators'] {
  if (!hasTable(raw, 'operators')) return new Map();
  const rows = raw.prepare('select name, role from operators order by name').all();
  return new Map(rows.map(({ name, role }) => [String(name), String(role)]));
}

/** Reads the keys that work until their end, by their ids. In a rotated key, `revoked_at_ms` is its end, too. */
function readWorkingKeys(raw: DatabaseSync) {
  // All columns of the account: in a store of an early release, none can be suspended, and that column is missing.
  const select = raw.prepare(`select api_keys.id as key_id, expires_at_ms, accounts.* from api_keys
    join accounts on accounts.id = account_id
    where revoked_at_ms is null or revoked_at_ms = expires_at_ms order by api_keys.id`);
  const rows = select.all().filter((row) => (row['suspended_at_ms'] ?? null) === null);
  return new Map(
    rows.map(({ key_id: id, name, expires_at_ms: end }) => [
      String(id),
      { account: String(name), endMs: end === null ? Number.POSITIVE_INFINITY : Number(end) },
    ]),
  );
}

function listRevived(raw: DatabaseSync, former: Former['keys'], nowMs: number): RevivedKey[] {
  return [...readWorkingKeys(raw)]
    .filter(([id, { endMs }]) => endMs > nowMs && endMs > (former.get(id)?.endMs ?? 0))
    .map(([id, { account }]) => ({ id, account }));
}

function readLastIds(raw: DatabaseSync): ReadonlyMap<string, bigint> {
  const select = raw.prepare('select name, seq from sqlite_sequence');
  select.setReadBigInts(true);
  return new Map(select.all().map(({ name, seq }) => [String(name), seq as bigint]));
}

/**
 * Makes a store assign new ids only after those already assigned, which are unknown if `given` is null. Deletes all events,
 * so that readers start again, and ends all sessions. Returns what is then on hold or has ended.
 */
function startAnew(
  raw: DatabaseSync,
  given: Former['lastIds'] | null,
  record: () => void,
): Pick<Restored, 'webhooksOnHold' | 'sessionsEnded'> {
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
  const begun = { webhooksOnHold: holdWebhooks(raw), sessionsEnded: endSessions(raw) };
  record();
  raw.exec('commit');
  return begun;
}

/**
 * Ends the sessions, links and tokens of operators: their owners may have been removed since. Returns the number of sessions and
 * tokens.
 */
function endSessions(raw: DatabaseSync): number {
  if (!hasTable(raw, 'console_sessions')) return 0;
  raw.exec('delete from console_links');
  return Number(raw.prepare('delete from console_sessions').run().changes);
}

/**
 * Disables the enabled webhooks as `restored`, with the end of the feed as their position: the events before it are gone. A
 * webhook that is still on hold from an earlier restore gets that position, too. A store of release 1.1.0 or older cannot store
 * that reason, so its webhooks stay, until the sender finds their events gone.
 */
function holdWebhooks(raw: DatabaseSync): number {
  if (orNull(() => raw.prepare('select disabled_because from webhooks')) === null) return 0;
  const hold = raw.prepare(`update webhooks set status = 'disabled', disabled_because = 'restored',
      position = (select deleted_to from event_horizon), revision = revision + 1, failures = 0,
      failing_since_ms = null, next_attempt_at_ms = 0
    where status = 'enabled' or disabled_because = 'restored'`);
  return Number(hold.run().changes);
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
