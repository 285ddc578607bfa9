import { sql } from 'kysely';
import { type Clock, dayMs } from '../clock.ts';
import { type Database, type Statement, statement } from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import { erase } from '../storage/erase.ts';
import { insertRow } from '../storage/insert-row.ts';
import type { Counters } from './counters.ts';
import { banMsMax } from './rules/bans.ts';

/** Records a lift. Every running service then lifts the ban of the key in its counters. */
export const insertLift = insertRow('ban_lifts', ['key_id', 'account_id', 'at_ms']);

/** Records a reset of the windows of an account. Every running service then applies it to its counters. */
export const insertReset = insertRow('limit_resets', ['account_id', 'at_ms']);

const selectLifts = statement((query) =>
  query.selectFrom('ban_lifts').select(['id', 'key_id', 'account_id', 'at_ms']).orderBy('id'),
);

const selectResets = statement((query) =>
  query.selectFrom('limit_resets').select(['id', 'account_id', 'at_ms']).orderBy('id'),
);

const deleteOldLifts = deletesOld('ban_lifts', ['id'], 'at_ms');
const deleteOldResets = deletesOld('limit_resets', ['id'], 'at_ms');

/** Applies the lifts and resets that operators record in the store to the counters. */
export type CorrectionFollower = ReturnType<typeof createCorrectionFollower>;

/**
 * Creates a follower, which applies each correction once. Its first call applies all that are recorded, because the
 * counters may still have a ban that was lifted while no service ran.
 */
export function createCorrectionFollower(database: Database, counters: Counters, clock: Clock) {
  const applyLifts = createApplier(database, selectLifts, ({ account_id, key_id, at_ms }) =>
    counters.lift(`account:${account_id}`, key_id, Number(at_ms)),
  );
  const applyResets = createApplier(database, selectResets, ({ account_id, at_ms }) =>
    counters.reset(`account:${account_id}`, Number(at_ms)),
  );

  return {
    /** Applies new corrections. Throws AppError `unavailable` if the store cannot be read. */
    async follow(): Promise<void> {
      await applyLifts();
      await applyResets();
    },

    /** Deletes the lifts that are older than the longest ban, and the resets that are older than the longest window. */
    async sweep(): Promise<void> {
      await deleteOldLifts(database, clock() - banMsMax);
      await deleteOldResets(database, clock() - dayMs);
    },
  };
}

/** Applies each row once. It keeps all applied ids: on PostgreSQL, a smaller id may become visible later. */
function createApplier<Row extends { id: bigint }>(
  database: Database,
  selectRows: Statement<Record<never, never>, Row>,
  apply: (row: Row) => boolean | Promise<boolean>,
): () => Promise<void> {
  let applied = new Set<bigint>();
  return async () => {
    const seen = new Set<bigint>();
    for (const row of await database.read(selectRows, {}))
      if (applied.has(row.id) || (await apply(row))) seen.add(row.id);
    applied = seen;
  };
}

/** Deletes the windows of an account, and the bans of its keys. */
export const eraseCounts = [
  erase('usage_windows', (p) => sql`subject = 'account:' || cast(${p.accountId} as bigint)`),
  erase('key_bans', (p) => sql`key_id in (select id from api_keys where account_id = ${p.accountId})`),
];
