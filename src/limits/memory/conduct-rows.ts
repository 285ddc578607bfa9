import type { Selectable } from 'kysely';
import { defineWork, statement, step } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import { type Conduct, forgetAtMs } from '../rules/bans.ts';
import { formatStrikes, parseStrikes } from './strikes-text.ts';

/**
 * Selects the bans and strikes of the next `count` keys after `afterKeyId`, ordered by key id. Leaves out rows that
 * have no effect after `sinceMs`.
 */
export const selectConduct = statement<{ afterKeyId: string; sinceMs: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('key_bans')
    .select(['key_id', 'banned_until_ms', 'last_ban_at_ms', 'last_ban_ms', 'refused_at_ms', 'forget_at_ms'])
    .where('key_id', '>', p.afterKeyId)
    .where('forget_at_ms', '>', p.sinceMs)
    .orderBy('key_id')
    .limit(p.count),
);

type ConductColumns = {
  keyId: string;
  bannedUntilMs: bigint;
  lastBanAtMs: bigint;
  lastBanMs: bigint;
  refusedAtMs: string;
  forgetAtMs: bigint;
};

const upsertConduct = statement<ConductColumns>()((query, p) =>
  query
    .insertInto('key_bans')
    .values({
      key_id: p.keyId,
      banned_until_ms: p.bannedUntilMs,
      last_ban_at_ms: p.lastBanAtMs,
      last_ban_ms: p.lastBanMs,
      refused_at_ms: p.refusedAtMs,
      forget_at_ms: p.forgetAtMs,
    })
    .onConflict((conflict) =>
      conflict.column('key_id').doUpdateSet((excluded) => ({
        banned_until_ms: excluded.ref('excluded.banned_until_ms'),
        last_ban_at_ms: excluded.ref('excluded.last_ban_at_ms'),
        last_ban_ms: excluded.ref('excluded.last_ban_ms'),
        refused_at_ms: excluded.ref('excluded.refused_at_ms'),
        forget_at_ms: excluded.ref('excluded.forget_at_ms'),
      })),
    ),
);

/** Replaces the stored bans and strikes of keys. */
export const writeConduct = defineWork(
  import.meta.url,
  'writeConduct',
  function* (rows: readonly ConductColumns[]) {
    for (const row of rows) yield* step(upsertConduct, row);
  },
);

/** Deletes at most `count` rows that have no effect after `untilMs`. */
export const deleteConduct = statement<{ untilMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('key_bans')
    .where('forget_at_ms', '<=', p.untilMs)
    .where('key_id', 'in', (eb) =>
      eb
        .selectFrom('key_bans')
        .select('key_id')
        .where('forget_at_ms', '<=', p.untilMs)
        .orderBy('forget_at_ms')
        .limit(p.count),
    ),
);

/** Converts the bans and strikes of a key into a row. The row may be deleted at `forgetAtMs`. */
export function toConductRow(keyId: string, conduct: Conduct) {
  return {
    keyId,
    bannedUntilMs: BigInt(conduct.banAtMs + conduct.banMs),
    lastBanAtMs: BigInt(conduct.banAtMs),
    lastBanMs: BigInt(conduct.banMs),
    refusedAtMs: formatStrikes(conduct.strikes),
    forgetAtMs: BigInt(forgetAtMs(conduct)),
  };
}

/** Converts a row into the bans and strikes of a key. Strikes keep their exact milliseconds. */
export function fromConductRow(row: Selectable<Tables['key_bans']>): Conduct {
  const strikes = parseStrikes(row.refused_at_ms);
  const strikeCount = strikes.values().reduce((sum, count) => sum + count, 0);
  return { banAtMs: Number(row.last_ban_at_ms), banMs: Number(row.last_ban_ms), strikes, strikeCount };
}
