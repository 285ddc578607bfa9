import { existsSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { secondMs } from '../../clock.ts';
import { storeUnavailable, toOpeningError } from '../store-errors.ts';
import { createRunCall } from './statements.ts';

/** A connection and its prepared statements. */
export type SqliteConnection = ReturnType<typeof openConnection>;

/** Maximum wait in ms for other writers, such as a load of millions of rows, when a store is opened, loaded or copied. */
export const lockWaitMsMax = 30_000;

/**
 * Number of pages in the WAL that triggers a checkpoint, which copies a page that many commits changed only once.
 * `docs/decisions/storage.md` has the reasons for this number and the next.
 */
const checkpointPages = 4_000;

/** The page size of a new store. SQLite writes whole pages, at random places. */
export const newPageBytes = 2_048;

/** Opens a file for writing: a commit is on disk before it returns. A lock blocks the thread up to `busyTimeoutMs`. */
export function openConnection(path: string, busyTimeoutMs: number) {
  const raw = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  return prepareConnection(
    raw,
    path,
    `pragma page_size = ${newPageBytes};
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma wal_autocheckpoint = ${checkpointPages}`,
  );
}

/** Opens a file for reading. The connection makes no checkpoint when it closes, so it never syncs the file to disk. */
export function openReadingConnection(path: string, busyTimeoutMs: number): SqliteConnection {
  const raw = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  return prepareConnection(raw, path, '');
}

function prepareConnection(raw: DatabaseSync, path: string, sql: string) {
  try {
    // The read makes SQLite open the file and its `-wal` now. A backup has no `-wal` before.
    raw.exec(`${sql}; select count(*) from sqlite_schema`);
  } catch (error) {
    raw.close();
    throw error;
  }
  return {
    raw,
    run: createRunCall(raw),
    /** Throws AppError `unavailable` if the file was deleted, moved or replaced. */
    requireInPlace: holdPlace(path),
    close: () => raw[Symbol.dispose](),
  };
}

/** Opens an existing file read-only. Throws OperatorError if it cannot be opened. */
export function openReadOnly(path: string | URL): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly: true, timeout: lockWaitMsMax });
  } catch (error) {
    throw toOpeningError(String(path), error);
  }
}

/**
 * Opens a file for one short read, and leaves no files beside it: without a `-wal`, the file is complete, and immutable as
 * long as no service starts. Throws OperatorError if it cannot be opened.
 */
export function openUntouched(path: string): DatabaseSync {
  if (existsSync(`${path}-wal`)) return openReadOnly(path);
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  return openReadOnly(address);
}

/**
 * Remembers the files of an open store, and returns `requireInPlace`: SQLite would write on to a removed file. The `-wal`
 * is looked at only once a second, and otherwise only its existence is checked: its `stat` would take ten times as long,
 * because the next write then updates its time, and the fsync writes the inode too.
 */
function holdPlace(path: string): () => void {
  const wal = `${path}-wal`;
  const opened = identify(path);
  const openedWal = identify(wal);
  let walSeenAtMs = performance.now();

  function isWalInPlace(): boolean {
    const nowMs = performance.now();
    if (nowMs - walSeenAtMs < secondMs) return existsSync(wal);
    if (identify(wal) !== openedWal) return false;
    walSeenAtMs = nowMs;
    return true;
  }

  function findLost(): string | null {
    if (identify(path) !== opened) return path;
    return isWalInPlace() ? null : wal;
  }

  return () => {
    const lost = findLost();
    if (lost === null) return;
    const why = 'is not the file that was opened: put the original file back, or restart the service';
    throw storeUnavailable(new Error(`${lost} ${why}`));
  };
}

/** Returns the identity of a file. Null if it does not exist or cannot be read. */
function identify(file: string): string | null {
  try {
    const { dev, ino } = statSync(file);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

const busyCode = 5;
/** The SQLite codes PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN and NOTADB. */
const faultCodes = new Set([3, busyCode, 6, 7, 8, 10, 11, 13, 14, 26]);

function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  // The low byte of an extended code is the code itself.
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Returns true if another connection has the lock. Node's `backup` then throws an error with the code 0. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === busyCode || code === 0;
}

/** Returns AppError `unavailable` for a fault of the store or a call after its close, and any other error unchanged. */
export function toStorageError(error: unknown): unknown {
  const code = primaryCode(error);
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
  const isFault = code === undefined ? isClosed : faultCodes.has(code);
  return isFault ? storeUnavailable(error) : error;
}

/** Time in ms between two attempts. */
const pauseMs = 5;

/** Repeats an attempt while another connection, perhaps of the same thread, has the lock, for up to `waitMsMax`. */
export async function repeatWhileBusy<T>(attempt: () => T | Promise<T>, waitMsMax: number): Promise<T> {
  const lastAtMs = performance.now() + waitMsMax;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= lastAtMs) throw error;
    }
    await setTimeout(pauseMs);
  }
}
