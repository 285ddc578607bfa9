import { step, type Work } from '../storage/database.ts';
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
 * Inside a work of row locks: runs `act` and stores its answer in the same transaction, or returns the first answer
 * without running it. Without `idempotency`, always runs. Throws `idempotency_key_reused` and
 * `idempotency_key_in_use`.
 */
export function* answerOnce(
  idempotency: Idempotency | null,
  nowMs: number,
  act: () => Work<FirstAnswer>,
): Work<Given> {
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

/** The advisory lock of a key. All instances use the same number. */
export function lockOf({ keyHash }: Idempotency): bigint {
  return Buffer.from(keyHash).readBigInt64BE();
}
