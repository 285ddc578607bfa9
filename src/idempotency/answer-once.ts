import { hash } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  type Database,
  lastStep,
  type RowOf,
  type Steps,
  statement,
  step,
  together,
} from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import { erase } from '../storage/erase.ts';
import { pick } from '../storage/insert-row.ts';
import { readStoreTime } from '../storage/store-facts.ts';
import type { Tables } from '../storage/tables.ts';

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
interface FirstAnswer {
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

/** Time in ms after which a stored response may be deleted. */
export const firstAnswersKeptMs = dayMs;

export function hashIdempotencyKey(accountId: bigint, key: string): Uint8Array {
  return hash('sha256', `${accountId} ${key}`, 'buffer');
}

/** Tries to lock a key against other instances until the transaction ends. `createFirstAnswers` does it in this one. */
const lockKey = statement((query, p: { lock: bigint }, { tryLock }) =>
  query.selectNoFrom(tryLock(p.lock).as('is_free')),
);

type Key = Pick<Idempotency, 'accountId' | 'keyHash'>;

/** Selects the stored response to a key of an account, in one row or none. */
const selectFirstAnswer = statement((query, p: Key) =>
  query
    .selectFrom('first_answers')
    .select(['operation', 'body_hash', 'status', 'location', 'body'])
    .where('account_id', '=', p.accountId)
    .where('key_hash', '=', p.keyHash),
);

const columns = ['account_id', 'key_hash', 'operation', 'body_hash', 'status', 'location', 'body'] as const;

/** Stores the response to a key, with the time of the store's clock. */
export const insertFirstAnswer = statement(
  (query, p: Omit<Selectable<Tables['first_answers']>, 'created_at_ms'>, { nowMs }) =>
    query.insertInto('first_answers').values({ ...pick(p, columns), created_at_ms: nowMs }),
);

/**
 * The last part of a transaction that is not `serializable`: returns the stored response to the key, or else runs `act`
 * and stores its response. If `idempotency` is null, only runs `act`. Throws `idempotency_key_reused`, and
 * `idempotency_key_in_use` while another transaction handles the first request.
 */
export function* answerOnce(idempotency: Idempotency | null, act: () => Steps<FirstAnswer>): Steps<Given> {
  if (idempotency === null) return { answer: yield* act(), isReplayed: false };
  const { accountId, keyHash, operation, bodyHash } = idempotency;
  const [[lock], [first]] = yield* together(
    step(lockKey, { lock: Buffer.from(keyHash).readBigInt64BE() }),
    step(selectFirstAnswer, { accountId, keyHash }),
  );
  if (first !== undefined) return replay(first, idempotency);
  if (lock?.is_free !== 1n) throw inUse();
  const answer = yield* act();
  const record = { account_id: accountId, key_hash: keyHash, operation, body_hash: bodyHash };
  const status = BigInt(answer.status);
  const { location, body } = answer;
  yield* lastStep(insertFirstAnswer, { ...record, status, location, body });
  return { answer, isReplayed: false };
}

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

function inUse(): AppError {
  return new AppError(
    'idempotency_key_in_use',
    'Idempotency-Key: the first request with this key is still running',
  );
}

const selectIsStored = statement((query, p: Key) =>
  query
    .selectFrom('first_answers')
    .select('operation')
    .where('account_id', '=', p.accountId)
    .where('key_hash', '=', p.keyHash),
);

const deleteOldAnswers = deletesOld('first_answers', ['account_id', 'key_hash'], 'created_at_ms');

export type FirstAnswers = ReturnType<typeof createFirstAnswers>;

export function createFirstAnswers(database: Database) {
  const running = new Set<string>();

  return {
    /** Runs `answer`. While it runs, another call with the same key throws `idempotency_key_in_use`. */
    async run(idempotency: Idempotency, answer: () => Promise<Given>): Promise<Given> {
      const name = Buffer.from(idempotency.keyHash).toString('latin1');
      // The request that is running may itself be a retry, so a response may already be stored.
      if (running.has(name)) {
        const [stored] = await database.read(selectIsStored, idempotency);
        if (stored === undefined) throw inUse();
        return answer();
      }
      running.add(name);
      try {
        return await answer();
      } finally {
        running.delete(name);
      }
    },

    async sweep(): Promise<void> {
      await deleteOldAnswers(database, (await readStoreTime(database)) - firstAnswersKeptMs);
    },
  };
}

export const eraseFirstAnswers = erase(
  'first_answers',
  (p) => sql`account_id = ${p.accountId}
    and key_hash in (select key_hash from first_answers where account_id = ${p.accountId} limit ${p.count})`,
);
