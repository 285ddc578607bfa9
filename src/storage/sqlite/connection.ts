import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Soon } from '../../soon.ts';
import { toOpeningError } from '../opening-error.ts';
import { storeUnavailable } from '../store-unavailable.ts';
import { holdPlace } from './place.ts';
import { createPreparedStatements, type PreparedStatements } from './prepared.ts';

/** A connection and its prepared statements. */
export interface SqliteConnection extends PreparedStatements {
  readonly raw: DatabaseSync;
  /** Throws AppError `unavailable` if the file was moved or replaced (sqlite/place.ts). */
  requireInPlace(): void;
  close(): void;
}

/**
 * How long opening, loading or copying waits for other writers. A load of millions of rows keeps the lock for
 * seconds.
 */
export const lockWaitMsMax = 30_000;

/**
 * Opens a file so that a commit is on disk before it returns (WAL with `synchronous=FULL`) and foreign keys are
 * enforced. The connection, and so its thread, waits `busyTimeoutMs` for a lock of another process.
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

/**
 * Opens a file for reading, beside a connection that writes. It never syncs, because it makes no checkpoint when it
 * closes.
 */
export function openReadingConnection(path: string, busyTimeoutMs: number): SqliteConnection {
  const raw = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    // Opens the file and its -wal now. SQLite would wait until the first read.
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

/** Opens an existing file read-only. Throws OperatorError if it cannot be opened. */
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

/** Whether the store failed (disk, file or lock), and not a statement or its values. */
export function isFault(error: unknown): boolean {
  const code = primaryCode(error);
  return code === undefined ? isClosed(error) : faultCodes.has(code);
}

/** Whether another connection, of this process or another, has the lock. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busyCode;
}

const pauseMs = 5;

/**
 * Repeats an attempt while another connection has the lock, for up to `waitMsMax`. It does not block the thread
 * between attempts: the other connection may belong to the same thread.
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
 * Turns a fault of the store, or a use after it was closed, into AppError `unavailable`. Returns any other error as
 * it is.
 */
export function toStorageError(error: unknown): unknown {
  return isFault(error) ? storeUnavailable(error) : error;
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
}
