import type { Selectable } from 'kysely';
import { defineTransaction, type Steps, statement, step } from '../../storage/database.ts';
import { insertRow } from '../../storage/insert-row.ts';
import type { NamedEntries } from '../../storage/row-buffer.ts';
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

const windowColumns = ['minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'] as const;
const upsertWindows = insertRow('usage_windows', ['subject', ...windowColumns], {
  on: ['subject'],
  replace: windowColumns,
});

/** Replaces the stored windows of subjects. */
export const writeWindows = defineTransaction(
  'writeWindows',
  function* (entries: NamedEntries<Windows>): Steps<void> {
    for (const [subject, windows] of entries)
      yield* step(upsertWindows, {
        subject,
        minute_used: BigInt(windows.minuteUsed),
        minute_ends_at_ms: BigInt(windows.minuteEndsAtMs),
        day_used: BigInt(windows.dayUsed),
        day_ends_at_ms: BigInt(windows.dayEndsAtMs),
      });
  },
);

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

const conductColumns = [
  'banned_until_ms',
  'last_ban_at_ms',
  'last_ban_ms',
  'refused_at_ms',
  'forget_at_ms',
] as const;
const upsertConduct = insertRow('key_bans', ['key_id', ...conductColumns], {
  on: ['key_id'],
  replace: conductColumns,
});

/**
 * Replaces the stored bans and strikes of keys. A row may be deleted at `forget_at_ms`. The text `refused_at_ms` has the
 * number of strikes and the end of their window. Release 1.1.0 keeps times there and finds none that count.
 */
export const writeConduct = defineTransaction(
  'writeConduct',
  function* (entries: NamedEntries<Conduct>): Steps<void> {
    for (const [keyId, conduct] of entries)
      yield* step(upsertConduct, {
        key_id: keyId,
        banned_until_ms: BigInt(conduct.banAtMs + conduct.banMs),
        last_ban_at_ms: BigInt(conduct.banAtMs),
        last_ban_ms: BigInt(conduct.banMs),
        refused_at_ms: `${conduct.strikes} ${conduct.strikesEndAtMs}`,
        forget_at_ms: BigInt(forgetAtMs(conduct)),
      });
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

/** Converts a row into the bans and strikes of a key. */
export function fromConductRow(row: Selectable<Tables['key_bans']>): Conduct {
  const [strikes = 0, strikesEndAtMs = 0] = row.refused_at_ms.split(' ').map(Number);
  return { banAtMs: Number(row.last_ban_at_ms), banMs: Number(row.last_ban_ms), strikes, strikesEndAtMs };
}
