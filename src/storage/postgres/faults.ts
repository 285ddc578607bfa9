import { setTimeout } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { AppError, OperatorError } from '../../errors.ts';
import { storeUnavailable } from '../store-unavailable.ts';

/**
 * SQLSTATE classes and codes that describe the state of the server, not the statement. The classes: connection failed,
 * login refused, no such database, out of resources, operator intervention (also a statement timeout), system error. The
 * codes: read-only, idle in a transaction, lock timeout, serialization failure, deadlock.
 */
const faults = /^(?:08|28|3D|53|57|58)|^(?:25006|25P03|55P03|40001|40P01)$/;
const conflicts = /^(?:40001|40P01)$/;
const readOnly = '25006';
/** A prepared statement is missing, or exists unexpectedly, because a pooler has changed the connection. */
const lostStatements = /^(?:26000|42P05)$/;

/**
 * Throws the error of a statement as callers see it. A fault of the server or the connection becomes AppError
 * `unavailable`. A broken constraint, or a mistake in the statement, stays the driver's own error. Throws
 * OperatorError if a pooler loses prepared statements.
 */
export function throwStorageError(error: unknown): never {
  if (error instanceof DatabaseError && lostStatements.test(codeOf(error)))
    throw new OperatorError(
      'a pooler in front of the database loses prepared statements: set it to session mode, or add ?pgbouncer=transaction to DATABASE_URL',
      { cause: error },
    );
  const passes = error instanceof DatabaseError ? !faults.test(codeOf(error)) : error instanceof TypeError;
  throw passes ? error : storeUnavailable(error);
}

/**
 * Throws AppError `unavailable` for any error while a connection opens. No statement was sent yet, so every SQLSTATE
 * is a fault here: 42501 is a revoked CONNECT privilege, 55000 a database that allows no connections.
 */
export function throwConnectionError(error: unknown): never {
  throw storeUnavailable(error);
}

/**
 * Whether to drop a connection after an error: it is lost or stuck, or its server became a standby. A new connection
 * may lead to the primary.
 */
export function isConnectionSpoilt(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof DatabaseError ? codeOf(cause) === readOnly : cause !== undefined;
}

/**
 * Errors that end a session or all of them: connection, authorisation, resources, operator intervention, system,
 * read-only.
 */
const endings = /^(?:08|28|3D|53|57P|58)|^25006$/;

/**
 * Whether the server reported the error and rolled back the statement with its transaction. The session continues.
 */
export function isUndone(error: unknown): boolean {
  const cause = causeOf(error) ?? error;
  return cause instanceof DatabaseError && !endings.test(codeOf(cause));
}

/** Whether the server reported the error, and so did not run the statement. */
export function isFromServer(error: unknown): boolean {
  return error instanceof DatabaseError || causeOf(error) instanceof DatabaseError;
}

/** The longest pause before a retry. The first is at most a millisecond. */
const pauseMsMax = 64;

/**
 * Repeats an attempt that the server rolled back because of another transaction, after a random, growing pause. After
 * `repeatMsMax` throws AppError `unavailable`.
 */
export async function repeatOnConflict<T>(attempt: () => Promise<T>, repeatMsMax: number): Promise<T> {
  const lastAtMs = performance.now() + repeatMsMax;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    try {
      return await attempt();
    } catch (error) {
      const cause = causeOf(error);
      const conflict = cause instanceof DatabaseError && conflicts.test(codeOf(cause));
      if (!conflict || performance.now() >= lastAtMs) throw error;
    }
    await setTimeout(Math.random() * pauseMs);
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof AppError && error.code === 'unavailable' ? error.cause : undefined;
}

function codeOf({ code }: DatabaseError): string {
  return code ?? '';
}
