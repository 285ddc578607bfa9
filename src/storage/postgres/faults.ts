import { setTimeout } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { AppError, isUnavailable, OperatorError } from '../../errors.ts';
import { storeUnavailable } from '../store-errors.ts';

/**
 * SQLSTATE classes and codes that describe the state of the server, not the statement:
 * - 08, 28, 3D: connection failure, rejected login, unknown database.
 * - 53, 57, 58: insufficient resources, operator intervention (includes the statement timeout), system error.
 * - 25006, 25P03, 55P03: read-only server, idle-in-transaction timeout, lock timeout.
 * - 40001, 40P01: serialization failure, deadlock.
 */
const faults = /^(?:08|28|3D|53|57|58)|^(?:25006|25P03|55P03|40001|40P01)$/;
const conflicts = /^(?:40001|40P01)$/;
/** The server ends the session (57P, 25P03), or it became a standby. */
const sessionEnds = /^57P|^(?:25006|25P03)$/;
/** Faults after which other statements of the same session would fail too. */
const endings = /^(?:08|28|3D|53|57P|58)|^(?:25006|25P03)$/;
/** A prepared statement is missing (26000) or already exists (42P05): a pooler switched to another server connection. */
const lostStatements = /^(?:26000|42P05)$/;

/** Throws a fault of the server as AppError `unavailable`, lost statements as OperatorError, other errors unchanged. */
export function throwStorageError(error: unknown): never {
  if (error instanceof DatabaseError && lostStatements.test(codeOf(error)))
    throw new OperatorError(
      'a pooler in front of the database loses prepared statements: set the pooler to session mode',
      { cause: error },
    );
  const passes = error instanceof DatabaseError ? !faults.test(codeOf(error)) : error instanceof TypeError;
  throw passes ? error : storeUnavailable(error);
}

/** Throws AppError `unavailable`. While a connection opens, every SQLSTATE is a fault. */
export function throwConnectionError(error: unknown): never {
  throw storeUnavailable(error);
}

/** Returns true if a connection is lost, stuck or ended by its server, or the server became a standby. */
export function isConnectionSpoilt(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof DatabaseError ? sessionEnds.test(codeOf(cause)) : cause !== undefined;
}

/** Returns true if the server has not answered in time. It may still do the statement. */
export function isUnanswered(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof Error && cause.message === 'Query read timeout';
}

/** Returns true if the body of a transaction threw the error as its answer. */
export function isRefusal(error: unknown): boolean {
  return error instanceof OperatorError || (error instanceof AppError && error.code !== 'unavailable');
}

/** Returns true if the transaction was rolled back, for a failed statement or a refusal, and the session continues. */
export function isUndone(error: unknown): boolean {
  const cause = causeOf(error) ?? error;
  return cause instanceof DatabaseError ? !endings.test(codeOf(cause)) : isRefusal(cause);
}

/** Returns true if the server reported the error. Then the statement had no effect. */
export function isFromServer(error: unknown): boolean {
  return error instanceof DatabaseError || causeOf(error) instanceof DatabaseError;
}

/** The lock timeout: another transaction has had a row for all of it. */
const lockNotHad = /^55P03$/;

interface Repeats {
  readonly codes: RegExp;
  /** Pauses in ms: each is random, up to a bound that doubles with each repeat. */
  readonly firstPauseMsMax: number;
  readonly lastPauseMsMax: number;
}

const onConflict: Repeats = { codes: conflicts, firstPauseMsMax: 1, lastPauseMsMax: 64 };
const onLock: Repeats = { codes: lockNotHad, firstPauseMsMax: 50, lastPauseMsMax: 400 };

/** Repeats an attempt after a conflict, with backoff and jitter, for up to `repeatMsMax`. Then throws `unavailable`. */
export function repeatOnConflict<T>(attempt: () => Promise<T>, repeatMsMax: number): Promise<T> {
  return repeat(attempt, repeatMsMax, onConflict);
}

/** Repeats an attempt that did not get a lock, as `repeatOnConflict` does. */
export function repeatWhileLocked<T>(attempt: () => Promise<T>, repeatMsMax: number): Promise<T> {
  return repeat(attempt, repeatMsMax, onLock);
}

async function repeat<T>(
  attempt: () => Promise<T>,
  repeatMsMax: number,
  { codes, firstPauseMsMax, lastPauseMsMax }: Repeats,
): Promise<T> {
  const lastAtMs = performance.now() + repeatMsMax;
  for (let pauseMs = firstPauseMsMax; ; pauseMs = Math.min(pauseMs * 2, lastPauseMsMax)) {
    try {
      return await attempt();
    } catch (error) {
      const cause = causeOf(error);
      const isRepeated = cause instanceof DatabaseError && codes.test(codeOf(cause));
      if (!isRepeated || performance.now() >= lastAtMs) throw error;
    }
    await setTimeout(Math.random() * pauseMs);
  }
}

function causeOf(error: unknown): unknown {
  return isUnavailable(error) ? error.cause : undefined;
}

function codeOf({ code }: DatabaseError): string {
  return code ?? '';
}
