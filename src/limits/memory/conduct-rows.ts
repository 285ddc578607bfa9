import type { Selectable } from 'kysely';
import { defineWork, statement, step } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import { type Conduct, forgetAtMs } from '../rules/bans.ts';
import { formatStrikes, parseStrikes } from './strikes-text.ts';

/** A run of the keys that something is held against after `sinceMs`, in the order of their ids. */
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

/** Writes the conduct of a key in the place of what was stored of it. */
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

/** Writes the conduct of keys in the place of what was stored of them. */
export const writeConduct = defineWork(
  import.meta.url,
  'writeConduct',
  function* (rows: readonly ConductColumns[]) {
    for (const row of rows) yield* step(upsertConduct, row);
  },
);

/** Drops a bounded number of the keys that nothing is held against from `untilMs` on. */
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

/** The conduct of a key as it is stored; `forgetAtMs` tells from when on the row may be dropped. */
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

/** The conduct of a key as it was stored, every strike to the millisecond. */
export function fromConductRow(row: Selectable<Tables['key_bans']>): Conduct {
  const strikes = parseStrikes(row.refused_at_ms);
  const strikeCount = strikes.values().reduce((sum, count) => sum + count, 0);
  return { banAtMs: Number(row.last_ban_at_ms), banMs: Number(row.last_ban_ms), strikes, strikeCount };
}
