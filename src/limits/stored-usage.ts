import type { Clock } from '../clock.ts';
import { after, type Soon } from '../soon.ts';
import { type Database, statement } from '../storage/database.ts';
import type { Usage } from './rules/decision.ts';
import { closeEnded, newWindows, type Windows } from './rules/windows.ts';

/** Returns the usage of an account by its subject. Counts nothing. */
export type LookAtUsage = (subject: string) => Soon<Usage>;

const selectWindowsOf = statement<{ subject: string }>()((query, p) =>
  query
    .selectFrom('usage_windows')
    .select(['minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'])
    .where('subject', '=', p.subject),
);

/**
 * Creates a reader of the stored counts. The stored counts may be up to a second old. While the instances share their
 * counts in Redis, the counts are not in the store.
 */
export function createStoredLook(database: Database, clock: Clock): LookAtUsage {
  return (subject) =>
    after(database.read(selectWindowsOf, { subject }), ([row]) => {
      const windows: Windows = newWindows();
      if (row !== undefined) {
        windows.minuteUsed = Number(row.minute_used);
        windows.minuteEndsAtMs = Number(row.minute_ends_at_ms);
        windows.dayUsed = Number(row.day_used);
        windows.dayEndsAtMs = Number(row.day_ends_at_ms);
      }
      const atMs = clock();
      closeEnded(windows, atMs);
      return { verdict: 'passed', atMs, ...windows, bannedUntilMs: 0 };
    });
}
