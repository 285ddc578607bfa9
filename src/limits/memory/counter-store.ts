import { type Selectable, sql } from 'kysely';
import { type Clock, minuteMs } from '../../clock.ts';
import {
  type Database,
  lastStep,
  type Steps,
  statement,
  together,
  transaction,
} from '../../storage/database.ts';
import { deletesOld } from '../../storage/delete-old.ts';
import { insertRow } from '../../storage/insert-row.ts';
import { createRowBuffer, type NamedEntries } from '../../storage/row-buffer.ts';
import type { Tables } from '../../storage/tables.ts';
import type { LookAtUsage } from '../counters.ts';
import { kindOf } from '../rules/address.ts';
import { type Conduct, forgetAtMs } from '../rules/bans.ts';
import { closeEnded, newWindows, type Windows } from '../rules/windows.ts';
import type { MemoryCounters } from './memory-counters.ts';

const readRowsMax = 10_000n;

/** What `createCounterStore` returns. */
export type CounterStore = ReturnType<typeof createCounterStore>;

/** Keeps the counts and bans of this process in the database, so that they survive a restart. */
export function createCounterStore(options: { counters: MemoryCounters; database: Database; clock: Clock }) {
  const { counters, database, clock } = options;
  const windows = createRowBuffer(database, writeWindows, undefined, counters.changed.windows);
  const conduct = createRowBuffer(database, writeConduct, undefined, counters.changed.keys);

  return {
    /** Reads the stored counts and bans that are still valid, once, before the first request. */
    async load(): Promise<void> {
      const nowMs = clock();
      await loadWindows(database, counters, nowMs);
      for (const row of await database.read(selectConduct, { nowMs: BigInt(nowMs) }))
        counters.keys.set(row.key_id, fromConductRow(row));
    },

    /** Writes the changes since the last flush. If that fails, throws `unavailable`; the rest waits for the next flush. */
    async flush(): Promise<void> {
      await windows.flush();
      await conduct.flush();
    },

    async sweep(): Promise<void> {
      const nowMs = clock();
      counters.sweep(nowMs);
      await deleteEndedWindows(database, nowMs - minuteMs);
      await deleteForgottenConduct(database, nowMs);
    },
  };
}

/** Reads by the end of the day window, because the time of the last request is not stored. */
async function loadWindows(database: Database, counters: MemoryCounters, nowMs: number): Promise<void> {
  let place = { endsAtMs: BigInt(nowMs - minuteMs), subject: '' };
  for (;;) {
    const rows = await database.read(selectWindows, { ...place, count: readRowsMax });
    for (const row of rows) {
      const windows = fromWindowsRow(row);
      closeEnded(windows, nowMs);
      if (windows.minute.used > 0 || windows.day.used > 0)
        counters.windows[kindOf(row.subject)].set(row.subject, windows);
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    place = { endsAtMs: last.day_ends_at_ms, subject: last.subject };
  }
}

/** Creates a reader of the stored counts, which are up to a second old. Counts that instances share in Redis are not stored. */
export function createStoredLook(database: Database, clock: Clock): LookAtUsage {
  return async (subject) => {
    const [row] = await database.read(selectWindowsOf, { subject });
    const windows = row === undefined ? newWindows() : fromWindowsRow(row);
    const atMs = clock();
    closeEnded(windows, atMs);
    return { verdict: 'passed', atMs, ...windows, bannedUntilMs: 0 };
  };
}

const selectWindows = statement((query, p: { endsAtMs: bigint; subject: string; count: bigint }) =>
  query
    .selectFrom('usage_windows')
    .selectAll()
    .where(sql<boolean>`(day_ends_at_ms, subject) > (${p.endsAtMs}, ${p.subject})`)
    .orderBy('day_ends_at_ms')
    .orderBy('subject')
    .limit(p.count),
);

const selectWindowsOf = statement((query, p: { subject: string }) =>
  query.selectFrom('usage_windows').selectAll().where('subject', '=', p.subject),
);

const windowColumns = ['minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'] as const;
const upsertWindows = insertRow('usage_windows', ['subject', ...windowColumns], {
  on: ['subject'],
  replace: windowColumns,
});

/**
 * Replaces the stored windows of subjects. A row counts for a minute longer than its `day_ends_at_ms`, because the minute
 * window may end after the day window. Of a day window that is not open, this column has the end of the minute window.
 */
export const writeWindows = transaction(
  'writeWindows',
  'row locks',
  function* (entries: NamedEntries<Windows>): Steps<void> {
    const steps = entries.map(([subject, { minute, day }]) =>
      lastStep(upsertWindows, {
        subject,
        minute_used: BigInt(minute.used),
        minute_ends_at_ms: BigInt(minute.endsAtMs),
        day_used: BigInt(day.used),
        day_ends_at_ms: BigInt((day.used === 0 ? minute : day).endsAtMs),
      }),
    );
    yield* together(...steps);
  },
);

const deleteEndedWindows = deletesOld('usage_windows', ['subject'], 'day_ends_at_ms');

function fromWindowsRow(row: Selectable<Tables['usage_windows']>): Windows {
  return {
    minute: { used: Number(row.minute_used), endsAtMs: Number(row.minute_ends_at_ms) },
    day: { used: Number(row.day_used), endsAtMs: row.day_used === 0n ? 0 : Number(row.day_ends_at_ms) },
  };
}

const selectConduct = statement((query, p: { nowMs: bigint }) =>
  query.selectFrom('key_bans').selectAll().where('forget_at_ms', '>', p.nowMs),
);

/** The number of strikes and the end of their window in Unix milliseconds. A released migration gave the column its name. */
const strikesColumn = 'refused_at_ms';
const conductColumns = [
  'banned_until_ms',
  'last_ban_at_ms',
  'last_ban_ms',
  strikesColumn,
  'forget_at_ms',
] as const;
const upsertConduct = insertRow('key_bans', ['key_id', ...conductColumns], {
  on: ['key_id'],
  replace: conductColumns,
});

/** Replaces the stored conduct of keys. */
export const writeConduct = transaction(
  'writeConduct',
  'row locks',
  function* (entries: NamedEntries<Conduct>): Steps<void> {
    const steps = entries.map(([key_id, conduct]) =>
      lastStep(upsertConduct, {
        key_id,
        banned_until_ms: BigInt(conduct.banAtMs + conduct.banMs),
        last_ban_at_ms: BigInt(conduct.banAtMs),
        last_ban_ms: BigInt(conduct.banMs),
        [strikesColumn]: `${conduct.strikes} ${conduct.strikesEndAtMs}`,
        forget_at_ms: BigInt(forgetAtMs(conduct)),
      }),
    );
    yield* together(...steps);
  },
);

const deleteForgottenConduct = deletesOld('key_bans', ['key_id'], 'forget_at_ms');

function fromConductRow(row: Selectable<Tables['key_bans']>): Conduct {
  const [strikes = 0, strikesEndAtMs = 0] = row[strikesColumn].split(' ').map(Number);
  return { banAtMs: Number(row.last_ban_at_ms), banMs: Number(row.last_ban_ms), strikes, strikesEndAtMs };
}
