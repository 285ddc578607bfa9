import { dayMs } from '../clock.ts';
import { type Database, statement } from '../storage/database.ts';
import { type Given, type Idempotency, inUse } from './answer-once.ts';

/** Time in ms after which a stored response may be deleted. */
export const firstAnswersKeptMs = dayMs;
const sweepRowsMax = 1_000n;

/** What `createFirstAnswers` returns. */
export type FirstAnswers = ReturnType<typeof createFirstAnswers>;

/** Selects one row if a key of an account has a stored response. */
const selectIsStored = statement<Pick<Idempotency, 'accountId' | 'keyHash'>>()((query, p) =>
  query
    .selectFrom('first_answers')
    .select('operation')
    .where('account_id', '=', p.accountId)
    .where('key_hash', '=', p.keyHash),
);

/** Deletes at most `count` responses, the oldest first. Returns a row for each. */
export const deleteOldFirstAnswers = statement<{ keptMs: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .deleteFrom('first_answers')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'key_hash'),
        'in',
        selectFrom('first_answers')
          .select(['account_id', 'key_hash'])
          .where(({ eb: is }) => is('created_at_ms', '<', is(nowMs, '-', p.keptMs)))
          .orderBy('created_at_ms')
          .limit(p.count)
          .$asTuple('account_id', 'key_hash'),
      ),
    )
    .returning('account_id'),
);

/** The stored responses to idempotency keys, for any operation. */
export function createFirstAnswers(database: Database) {
  const running = new Set<string>();

  return {
    /**
     * Runs `answer` for a request with a key. While `answer` runs in this process, another request with the same key
     * gets the stored response if there is one. Otherwise that request throws `idempotency_key_in_use`.
     */
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

    /** Deletes old responses by the store's clock, at most `sweepRowsMax` in each transaction. */
    async sweep(): Promise<void> {
      let deleted: readonly unknown[];
      do
        deleted = await database.run(deleteOldFirstAnswers, {
          keptMs: BigInt(firstAnswersKeptMs),
          count: sweepRowsMax,
        });
      while (deleted.length >= sweepRowsMax);
    },
  };
}
