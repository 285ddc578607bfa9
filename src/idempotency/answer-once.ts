import { type Steps, step } from '../storage/database.ts';
import {
  type FirstAnswer,
  type Given,
  type Idempotency,
  inUse,
  rememberedMs,
  replay,
} from './first-answer.ts';
import { lockKey, selectFirstAnswer, upsertFirstAnswer } from './first-answer-rows.ts';

/**
 * Handles a request with an idempotency key inside a transaction with the isolation `row locks`. Returns the stored
 * response if there is one. Otherwise runs `act` and stores its response in the same transaction. If `idempotency` is
 * null, always runs `act` and stores nothing. Throws `idempotency_key_reused` and `idempotency_key_in_use`.
 */
export function* answerOnce(
  idempotency: Idempotency | null,
  nowMs: number,
  act: () => Steps<FirstAnswer>,
): Steps<Given> {
  if (idempotency === null) return { answer: yield* act(), isReplayed: false };
  const { accountId, keyHash, operation, bodyHash } = idempotency;
  const [lock] = yield* step(lockKey, { lock: lockOf(idempotency) });
  const outlivedMs = BigInt(nowMs - rememberedMs);
  const [first] = yield* step(selectFirstAnswer, { accountId, keyHash, outlivedMs });
  if (first !== undefined) return replay(first, idempotency);
  if (lock?.is_free !== 1n) throw inUse();
  const answer = yield* act();
  const { status, location, body } = answer;
  yield* step(upsertFirstAnswer, {
    accountId,
    keyHash,
    operation,
    bodyHash,
    status: BigInt(status),
    location,
    body,
    createdAtMs: BigInt(nowMs),
  });
  return { answer, isReplayed: false };
}

/** Returns the number of the advisory lock of a key. It is the same on all instances. */
export function lockOf({ keyHash }: Idempotency): bigint {
  return Buffer.from(keyHash).readBigInt64BE();
}
