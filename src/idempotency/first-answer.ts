import { hash } from 'node:crypto';
import { dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';

/** Time in ms for which the service remembers an `Idempotency-Key` (contract section 2). */
export const rememberedMs = dayMs;

/** The idempotency key of a request. A retry must have the same account, operation and body. */
export interface Idempotency {
  readonly accountId: bigint;
  /** SHA-256 of the account id and the key. The key itself is not stored. */
  readonly keyHash: Uint8Array;
  readonly operation: string;
  /** SHA-256 of the bytes of the body. */
  readonly bodyHash: Uint8Array;
}

/** The stored response to the first request with a key. */
export interface FirstAnswer {
  readonly status: number;
  /** The `Location` header, relative to the base address. */
  readonly location: string;
  readonly body: string;
}

/** A response to send. `isReplayed` is true if it is the stored response to an earlier request with the same key. */
export interface Given {
  readonly answer: FirstAnswer;
  readonly isReplayed: boolean;
}

/** Returns the hash of a key. It is the same on all instances. */
export function hashIdempotencyKey(accountId: bigint, key: string): Uint8Array {
  return hash('sha256', `${accountId} ${key}`, 'buffer');
}

/** The columns of a stored response. */
export interface FirstAnswerRow {
  readonly operation: string;
  readonly body_hash: Uint8Array;
  readonly status: bigint;
  readonly location: string;
  readonly body: string;
}

/**
 * Returns the stored response of a row. Throws `idempotency_key_reused` if the key was sent with another operation or
 * body.
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

/** Returns the error for a request whose key is in use. */
export function inUse(): AppError {
  return new AppError(
    'idempotency_key_in_use',
    'Idempotency-Key: the first request with this key is still running',
  );
}
