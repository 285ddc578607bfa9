import type { Selectable } from 'kysely';
import { defineTransaction, statement, step } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import { type Conduct, forgetAtMs } from '../rules/bans.ts';
import type { Windows } from '../rules/windows.ts';

/**
 * A row is expired if its day window has ended by `dayEndedMs` and its minute window has ended by `minuteEndedMs`.
 * Both are checked because a minute window may stay open after the day window.
 */
type ExpiredAt = { dayEndedMs: bigint; minuteEndedMs: bigint };

/** Selects the next `count` subjects after `afterSubject` that are not expired, ordered by name. */
export const selectWindows = statement<ExpiredAt & { afterSubject: string; count: bigint }>()((query, p) =>
  query
    .selectFrom('usage_windows')
    .select(['subject', 'minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'])
    .where('subject', '>', p.afterSubject)
    .where((eb) =>
      eb.or([eb('day_ends_at_ms', '>', p.dayEndedMs), eb('minute_ends_at_ms', '>', p.minuteEndedMs)]),
    )
    .orderBy('subject')
    .limit(p.count),
);

/** Selects the windows of one subject. */
export const selectWindowsOf = statement<{ subject: string }>()((query, p) =>
  query
    .selectFrom('usage_windows')
    .select(['subject', 'minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'])
    .where('subject', '=', p.subject),
);

type WindowColumns = {
  subject: string;
  minuteUsed: bigint;
  minuteEndsAtMs: bigint;
  dayUsed: bigint;
  dayEndsAtMs: bigint;
};

const upsertWindows = statement<WindowColumns>()((query, p) =>
  query
    .insertInto('usage_windows')
    .values({
      subject: p.subject,
      minute_used: p.minuteUsed,
      minute_ends_at_ms: p.minuteEndsAtMs,
      day_used: p.dayUsed,
      day_ends_at_ms: p.dayEndsAtMs,
    })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet((excluded) => ({
        minute_used: excluded.ref('excluded.minute_used'),
        minute_ends_at_ms: excluded.ref('excluded.minute_ends_at_ms'),
        day_used: excluded.ref('excluded.day_used'),
        day_ends_at_ms: excluded.ref('excluded.day_ends_at_ms'),
      })),
    ),
);

/** Replaces the stored windows of subjects. */
export const writeWindows = defineTransaction('writeWindows', function* (rows: readonly WindowColumns[]) {
  for (const row of rows) yield* step(upsertWindows, row);
});

/**
 * Deletes at most `count` expired rows, oldest day window first. The conditions are checked twice, because another
 * instance may write a row after the subquery has selected it.
 */
export const deleteWindows = statement<ExpiredAt & { count: bigint }>()((query, p) =>
  query
    .deleteFrom('usage_windows')
    .where('day_ends_at_ms', '<=', p.dayEndedMs)
    .where('minute_ends_at_ms', '<=', p.minuteEndedMs)
    .where('subject', 'in', (eb) =>
      eb
        .selectFrom('usage_windows')
        .select('subject')
        .where('day_ends_at_ms', '<=', p.dayEndedMs)
        .where('minute_ends_at_ms', '<=', p.minuteEndedMs)
        .orderBy('day_ends_at_ms')
        .limit(p.count),
    ),
);

/** Converts the windows of a subject into a row. */
export function toWindowsRow(subject: string, windows: Windows) {
  return {
    subject,
    minuteUsed: BigInt(windows.minuteUsed),
    minuteEndsAtMs: BigInt(windows.minuteEndsAtMs),
    dayUsed: BigInt(windows.dayUsed),
    dayEndsAtMs: BigInt(windows.dayEndsAtMs),
  };
}

/** Converts a row into the windows of a subject. */
export function fromWindowsRow(row: Selectable<Tables['usage_windows']>): Windows {
  return {
    minuteUsed: Number(row.minute_used),
    minuteEndsAtMs: Number(row.minute_ends_at_ms),
    dayUsed: Number(row.day_used),
    dayEndsAtMs: Number(row.day_ends_at_ms),
  };
}

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
export const writeConduct = defineTransaction('writeConduct', function* (rows: readonly ConductColumns[]) {
  for (const row of rows) yield* step(upsertConduct, row);
});

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

/**
 * Converts the bans and strikes of a key into a row. The row may be deleted at `forgetAtMs`. The text `refused_at_ms` has
 * the number of strikes and the end of their window. Release 1.1.0 keeps times there and finds none that count.
 */
export function toConductRow(keyId: string, conduct: Conduct) {
  return {
    keyId,
    bannedUntilMs: BigInt(conduct.banAtMs + conduct.banMs),
    lastBanAtMs: BigInt(conduct.banAtMs),
    lastBanMs: BigInt(conduct.banMs),
    refusedAtMs: `${conduct.strikes} ${conduct.strikesEndAtMs}`,
    forgetAtMs: BigInt(forgetAtMs(conduct)),
  };
}

/** Converts a row into the bans and strikes of a key. */
export function fromConductRow(row: Selectable<Tables['key_bans']>): Conduct {
  const [strikes = 0, strikesEndAtMs = 0] = row.refused_at_ms.split(' ').map(Number);
  return { banAtMs: Number(row.last_ban_at_ms), banMs: Number(row.last_ban_ms), strikes, strikesEndAtMs };
}
