import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Soon } from '../../soon.ts';
import { toOpeningError } from '../opening-error.ts';
import { storeUnavailable } from '../store-unavailable.ts';
import { holdPlace } from './place.ts';
import { createPreparedStatements, type PreparedStatements } from './prepared.ts';

/** One connection with the statements that it has prepared. */
export interface SqliteConnection extends PreparedStatements {
  readonly raw: DatabaseSync;
  /** Throws AppError `unavailable` if the file is no longer at its place (sqlite/place.ts). */
  requireInPlace(): void;
  close(): void;
}

/** How long an opening, a load or a copy waits for others that write; a load of millions keeps the lock for seconds. */
export const lockWaitMsMax = 30_000;

/**
 * Opens a file with the settings that keep its promises: a commit is on disk before it returns (WAL with
 * `synchronous=FULL`) and references hold. A connection waits `busyTimeoutMs` for a lock of another process, and its
 * whole thread waits with it.
 */
export function openConnection(path: string, busyTimeoutMs: number): SqliteConnection {
  const raw = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    raw.exec('pragma journal_mode = wal; pragma synchronous = full;');
  } catch (error) {
    raw.close();
    throw error;
  }
  return createConnection(raw, path);
}

/** Opens a file for reading, beside a connection that writes. It never syncs: it makes no checkpoint as it closes. */
export function openReadingConnection(path: string, busyTimeoutMs: number): SqliteConnection {
  const raw = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    // Opens the file and its -wal now; SQLite would do it at the first read.
    raw.exec('select count(*) from sqlite_schema');
  } catch (error) {
    raw.close();
    throw error;
  }
  return createConnection(raw, path);
}

function createConnection(raw: DatabaseSync, path: string): SqliteConnection {
  return {
    ...createPreparedStatements(raw),
    raw,
    requireInPlace: holdPlace(path),
    close: () => {
      if (raw.isOpen) raw.close();
    },
  };
}

/** Opens a file that is there to be read and not changed. Throws OperatorError where it cannot be opened. */
export function openReadOnly(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly: true, timeout: lockWaitMsMax });
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

const busyCode = 5;
/** Permission, busy, locked, no memory, read-only, I/O, corrupt, full, cannot open, not a database. */
const faultCodes = new Set([3, busyCode, 6, 7, 8, 10, 11, 13, 14, 26]);

function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Whether the store itself failed: the disk, the file or a lock, and not a statement or its values. */
export function isFault(error: unknown): boolean {
  const code = primaryCode(error);
  return code === undefined ? isClosed(error) : faultCodes.has(code);
}

/** Whether another connection, of this process or another, holds the lock that a statement wanted. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busyCode;
}

const pauseMs = 5;

/**
 * Makes an attempt again while another connection holds the lock that it wants, for up to `waitMsMax`. The thread is
 * free between the attempts: the connection that it waits for may be its own.
 */
export async function repeatWhileBusy<T>(attempt: () => Soon<T>, waitMsMax: number): Promise<T> {
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

/**
 * What a caller may know of a fault of the store, or of one that has been closed: AppError `unavailable`. Any other
 * error is passed on as it is.
 */
export function toStorageError(error: unknown): unknown {
  return isFault(error) ? storeUnavailable(error) : error;
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
}
