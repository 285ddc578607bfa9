import type { Selectable } from 'kysely';
import { defineWork, statement, step } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import type { Windows } from '../rules/windows.ts';

/** Until when a day and a minute must have ended for a row to be over: both, as a minute may outlive its day. */
type OverSince = { dayEndedMs: bigint; minuteEndedMs: bigint };

/** A run of the subjects that are not over, in the order of their names, from after `afterSubject`. */
export const selectWindows = statement<OverSince & { afterSubject: string; count: bigint }>()((query, p) =>
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

type WindowColumns = {
  subject: string;
  minuteUsed: bigint;
  minuteEndsAtMs: bigint;
  dayUsed: bigint;
  dayEndsAtMs: bigint;
};

/** Writes the windows of a subject in the place of those stored. */
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

/** Writes the windows of subjects in the place of what was stored of them. */
export const writeWindows = defineWork(
  import.meta.url,
  'writeWindows',
  function* (rows: readonly WindowColumns[]) {
    for (const row of rows) yield* step(upsertWindows, row);
  },
);

/**
 * Drops a bounded number of the subjects that are over, those first whose day ended first; none that another instance
 * has written meanwhile.
 */
export const deleteWindows = statement<OverSince & { count: bigint }>()((query, p) =>
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

/** The windows of a subject as they are stored. */
export function toWindowsRow(subject: string, windows: Windows) {
  return {
    subject,
    minuteUsed: BigInt(windows.minuteUsed),
    minuteEndsAtMs: BigInt(windows.minuteEndsAtMs),
    dayUsed: BigInt(windows.dayUsed),
    dayEndsAtMs: BigInt(windows.dayEndsAtMs),
  };
}

/** The windows of a subject as they were stored. */
export function fromWindowsRow(row: Selectable<Tables['usage_windows']>): Windows {
  return {
    minuteUsed: Number(row.minute_used),
    minuteEndsAtMs: Number(row.minute_ends_at_ms),
    dayUsed: Number(row.day_used),
    dayEndsAtMs: Number(row.day_ends_at_ms),
  };
}
