import { hash } from 'node:crypto';
import { dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';

/** How long an `Idempotency-Key` is remembered (contract section 2). */
export const rememberedMs = dayMs;

/** What a client's retry is known by. A key stands for one operation and one body of its account. */
export interface Idempotency {
  readonly accountId: bigint;
  /** The SHA-256 of the account and the key; the key itself is kept nowhere. */
  readonly keyHash: Uint8Array;
  readonly operation: string;
  /** The SHA-256 of the body's bytes. */
  readonly bodyHash: Uint8Array;
}

/** What a request was answered with. */
export interface FirstAnswer {
  readonly status: number;
  /** Relative to the base address. */
  readonly location: string;
  readonly body: string;
}

/** An answer, given for the first time now or (`isReplayed`) by an earlier request with the same key. */
export interface Given {
  readonly answer: FirstAnswer;
  readonly isReplayed: boolean;
}

/** What a key is known by in the store, and on all instances. */
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

/** The first answer in a row. Throws `idempotency_key_reused` if the key stands for another operation or body. */
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

/** The failure of a request whose key is in use by another. */
export function inUse(): AppError {
  return new AppError(
    'idempotency_key_in_use',
    'Idempotency-Key: the first request with this key is still running',
  );
}
