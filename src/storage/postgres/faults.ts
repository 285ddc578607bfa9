import { setTimeout } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { AppError, OperatorError } from '../../errors.ts';
import { storeUnavailable } from '../store-unavailable.ts';

/**
 * SQLSTATE classes and codes that tell of the server's state and not of the statement: connection, authorisation and
 * catalogue name refused, resources, operator's intervention (a statement timeout too), system errors; read-only,
 * idle in a transaction, lock timeout; a conflict or deadlock with another transaction.
 */
const faults = /^(?:08|28|3D|53|57|58)|^(?:25006|25P03|55P03|40001|40P01)$/;
const conflicts = /^(?:40001|40P01)$/;
const readOnly = '25006';
/** A statement that was prepared is not there, or one that was not is: another connection answers. */
const lostStatements = /^(?:26000|42P05)$/;

/**
 * Throws the error of a statement as callers see it: AppError `unavailable` for a fault of the server or of the
 * connection; a broken constraint, or a mistake in the statement, as the driver's own error. Throws OperatorError when
 * a pooler loses prepared statements.
 */
export function throwStorageError(error: unknown): never {
  if (error instanceof DatabaseError && lostStatements.test(codeOf(error)))
    throw new OperatorError(
      'a pooler before the database loses prepared statements: let it lend connections for a session',
      { cause: error },
    );
  const passes = error instanceof DatabaseError ? !faults.test(codeOf(error)) : error instanceof TypeError;
  throw passes ? error : storeUnavailable(error);
}

/**
 * Throws AppError `unavailable` for any error while a connection is opened. No statement has been sent yet, so every
 * SQLSTATE is a fault here: 42501 is a revoked CONNECT privilege, 55000 a database that allows no connections.
 */
export function throwConnectionError(error: unknown): never {
  throw storeUnavailable(error);
}

/**
 * Whether a connection is to be given up after an error: it is lost or stuck, or it leads to a server that has become
 * a standby, where a new one may lead to the primary.
 */
export function isConnectionSpoilt(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof DatabaseError ? codeOf(cause) === readOnly : cause !== undefined;
}

/** Whether an error is the server's own word on a statement, which it then has not done. */
export function isToldByServer(error: unknown): boolean {
  return error instanceof DatabaseError || causeOf(error) instanceof DatabaseError;
}

/** The longest pause before something is begun again; the first is a millisecond at most. */
const pauseMsMax = 64;

/**
 * Begins an attempt again where the server undid it for the sake of another transaction, after a growing pause of
 * random length, until `repeatMsMax` have passed; then fails with AppError `unavailable`.
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
