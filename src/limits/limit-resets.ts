import { type Clock, dayMs } from '../clock.ts';
import { type Database, statement } from '../storage/database.ts';
import type { Counters } from './counters.ts';

/** Records a reset of the windows of an account. Every running service then applies it to its counters. */
export const insertReset = statement<{ accountId: bigint; atMs: bigint }>()((query, p) =>
  query.insertInto('limit_resets').values({ account_id: p.accountId, at_ms: p.atMs }),
);

const selectResets = statement<Record<never, never>>()((query) =>
  query.selectFrom('limit_resets').select(['id', 'account_id', 'at_ms']).orderBy('id'),
);

const deleteResets = statement<{ untilMs: bigint }>()((query, p) =>
  query.deleteFrom('limit_resets').where('at_ms', '<=', p.untilMs),
);

/** Operators reset windows in the store. A follower applies these resets to the counters. */
export interface ResetFollower {
  /** Applies new resets. Fails if the store or the counters fail. The next call tries again. */
  follow(): Promise<void>;
  /** Deletes the resets that are older than the longest window. */
  sweep(): Promise<void>;
}

/**
 * Creates a follower, which applies each reset once. The first call applies all recorded resets, because the counters
 * may still have windows that were reset while no service ran. Windows that began after a reset stay.
 */
export function createResetFollower(database: Database, counters: Counters, clock: Clock): ResetFollower {
  let lastId = 0n;

  return {
    async follow() {
      for (const { id, account_id, at_ms } of await database.read(selectResets, {})) {
        if (id <= lastId) continue;
        await counters.reset(`account:${account_id}`, Number(at_ms));
        lastId = id;
      }
    },

    async sweep() {
      if (lastId > 0n) await database.run(deleteResets, { untilMs: BigInt(clock() - dayMs) });
    },
  };
}
