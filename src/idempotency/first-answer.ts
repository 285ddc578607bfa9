import { hash } from 'node:crypto';
import { dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';

/** How long the service remembers an `Idempotency-Key` (contract section 2). */
export const rememberedMs = dayMs;

/** Identifies a retry. A key belongs to one operation and one body of its account. */
export interface Idempotency {
  readonly accountId: bigint;
  /** The SHA-256 of the account and the key. The key itself is not stored. */
  readonly keyHash: Uint8Array;
  readonly operation: string;
  /** The SHA-256 of the body's bytes. */
  readonly bodyHash: Uint8Array;
}

/** The stored answer to a request. */
export interface FirstAnswer {
  readonly status: number;
  /** The `Location`, relative to the base address. */
  readonly location: string;
  readonly body: string;
}

/** An answer. `isReplayed`: an earlier request with the same key got it first. */
export interface Given {
  readonly answer: FirstAnswer;
  readonly isReplayed: boolean;
}

/** The hash of a key, the same on all instances. */
export function hashIdempotencyKey(accountId: bigint, key: string): Uint8Array {
  return hash('sha256', `${accountId} ${key}`, 'buffer');
}

/** The columns of a first answer's row. */
export interface FirstAnswerRow {
  readonly operation: string;
  readonly body_hash: Uint8Array;
  readonly status: bigint;
  readonly location: string;
  readonly body: string;
}

/**
 * Reads a first answer from its row. Throws `idempotency_key_reused` if the key belongs to another operation or body.
 */
export function replay(row: FirstAnswerRow, { operation, bodyHash }: Idempotency): Given {
  if (row.operation !== operation)
    throw new AppError(
      'idempotency_key_reused',
      'Idempotency-Key: this key was sent before with another operation',
    );
  if (Buffer.compare(row.body_hash, bodyHash) !== 0)
    throw new AppError(
      'idempotency_key_reused',
      'Idempotency-Key: this key was sent before with another body',
    );
  const { location, body } = row;
  return { answer: { status: Number(row.status), location, body }, isReplayed: true };
}

/** The error of a request whose key is in use. */
export function inUse(): AppError {
  return new AppError(
    'idempotency_key_in_use',
    'Idempotency-Key: the first request with this key is still running',
  );
}
