import type { Clock } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { type Given, type Idempotency, inUse, rememberedMs, replay } from './first-answer.ts';
import { deleteOldFirstAnswers, selectFirstAnswer } from './first-answer-rows.ts';

const sweepRowsMax = 1_000n;

/** The stored responses to idempotency keys, for any operation. */
export interface FirstAnswers {
  /**
   * Runs `answer` for a request with a key. While `answer` runs in this process, another request with the same key
   * gets the stored response if there is one. Otherwise that request throws `idempotency_key_in_use`.
   */
  run(idempotency: Idempotency, answer: (nowMs: number) => Promise<Given>): Promise<Given>;
  /** Returns the stored response to a key, or null. Throws `idempotency_key_reused`. */
  find(idempotency: Idempotency, nowMs: number): Promise<Given | null>;
  /** Deletes expired responses, at most `sweepRowsMax` in each transaction. */
  sweep(): Promise<void>;
}

export function createFirstAnswers(database: Database, clock: Clock): FirstAnswers {
  const running = new Set<string>();

  async function find(idempotency: Idempotency, nowMs: number): Promise<Given | null> {
    const { accountId, keyHash } = idempotency;
    const outlivedMs = BigInt(nowMs - rememberedMs);
    const [row] = await database.read(selectFirstAnswer, { accountId, keyHash, outlivedMs });
    return row === undefined ? null : replay(row, idempotency);
  }

  async function findOrRefuse(idempotency: Idempotency, nowMs: number): Promise<Given> {
    const first = await find(idempotency, nowMs);
    if (first === null) throw inUse();
    return first;
  }

  return {
    find,

    async run(idempotency, answer) {
      const name = Buffer.from(idempotency.keyHash).toString('latin1');
      const nowMs = clock();
      // The running request may itself be a retry, so a response may already be stored.
      if (running.has(name)) return findOrRefuse(idempotency, nowMs);
      running.add(name);
      try {
        return await answer(nowMs);
      } finally {
        running.delete(name);
      }
    },

    async sweep() {
      const old = { beforeMs: BigInt(clock() - rememberedMs), count: sweepRowsMax };
      let deleted: readonly unknown[];
      do deleted = await database.run(deleteOldFirstAnswers, old);
      while (deleted.length >= sweepRowsMax);
    },
  };
}
