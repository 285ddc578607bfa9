import type { Clock } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { deleteLifts, selectLifts } from './ban-rows.ts';
import type { Counters } from './counters.ts';
import { banMsMax } from './rules/bans.ts';

/** Operators lift bans in the store. A follower applies these lifts to the counters. */
export interface LiftFollower {
  /** Applies new lifts. Fails if the store or the counters fail. The next call tries again. */
  follow(): Promise<void>;
}

/**
 * Creates a follower, which applies each lift once. The first call applies all recorded lifts, because the counters
 * may still have a ban that was lifted while no service ran. Bans that began after a lift stay.
 */
export function createLiftFollower(database: Database, counters: Counters, clock: Clock): LiftFollower {
  let applied = new Set<bigint>();

  return {
    async follow() {
      const lifts = await database.read(selectLifts, {});
      if (lifts.length === 0) return;
      const seen = new Set<bigint>();
      for (const { id, key_id, account_id, at_ms } of lifts) {
        if (!applied.has(id)) await counters.lift(`account:${account_id}`, key_id, Number(at_ms));
        seen.add(id);
        applied.add(id);
      }
      applied = seen;
      await database.run(deleteLifts, { untilMs: BigInt(clock() - banMsMax) });
    },
  };
}
