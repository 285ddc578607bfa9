import { hash } from 'node:crypto';
import { AppError } from '../errors.ts';
import { type RowOf, type Steps, statement, stepsTogether, toLastStep, toStep } from '../storage/database.ts';

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

/** Tries to lock a key until the transaction ends, so that other instances see that its request is running. */
const lockKey = statement<{ lock: bigint }>()((query, p, { tryLock }) =>
  query.selectNoFrom(tryLock(p.lock).as('is_free')),
);

/**
 * Selects the stored response to a key of an account, in one row or none. The lock on the row makes the transaction of
 * a replay a writing one, so its commit waits for the standby as the first one did.
 */
const selectFirstAnswer = statement<{ accountId: bigint; keyHash: Uint8Array }>()((query, p, { lockRows }) =>
  query
    .selectFrom('first_answers')
    .select(['operation', 'body_hash', 'status', 'location', 'body'])
    .where('account_id', '=', p.accountId)
    .where('key_hash', '=', p.keyHash)
    .modifyEnd(lockRows),
);

/** Stores the response to a key, with the time of the store's clock. */
export const insertFirstAnswer = statement<{
  accountId: bigint;
  keyHash: Uint8Array;
  operation: string;
  bodyHash: Uint8Array;
  status: bigint;
  location: string;
  body: string;
}>()((query, p, { nowMs }) =>
  query.insertInto('first_answers').values({
    account_id: p.accountId,
    key_hash: p.keyHash,
    operation: p.operation,
    body_hash: p.bodyHash,
    status: p.status,
    location: p.location,
    body: p.body,
    created_at_ms: nowMs,
  }),
);

/**
 * Handles a request with an idempotency key inside a transaction with the isolation `row locks`. Returns the stored
 * response if there is one. Otherwise runs `act` and stores its response in the same transaction. If `idempotency` is
 * null, always runs `act` and stores nothing. Throws `idempotency_key_reused`, and `idempotency_key_in_use` while
 * another transaction handles the first request. It is the last part of its transaction.
 */
export function* answerOnce(idempotency: Idempotency | null, act: () => Steps<FirstAnswer>): Steps<Given> {
  if (idempotency === null) return { answer: yield* act(), isReplayed: false };
  const { accountId, keyHash, operation, bodyHash } = idempotency;
  const [[lock], [first]] = yield* stepsTogether(
    toStep(lockKey, { lock: Buffer.from(keyHash).readBigInt64BE() }),
    toStep(selectFirstAnswer, { accountId, keyHash }),
  );
  if (first !== undefined) return replay(first, idempotency);
  if (lock?.is_free !== 1n) throw inUse();
  const answer = yield* act();
  const { status, location, body } = answer;
  const record = { accountId, keyHash, operation, bodyHash, status: BigInt(status), location, body };
  yield* stepsTogether(toLastStep(insertFirstAnswer, record));
  return { answer, isReplayed: false };
}

/** Throws `idempotency_key_reused` if the key was sent with another operation or body. */
function replay(row: RowOf<typeof selectFirstAnswer>, { operation, bodyHash }: Idempotency): Given {
  const other =
    row.operation !== operation ? 'operation' : Buffer.compare(row.body_hash, bodyHash) !== 0 ? 'body' : null;
  if (other !== null)
    throw new AppError(
      'idempotency_key_reused',
      `Idempotency-Key: this key was sent before with another ${other}`,
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
