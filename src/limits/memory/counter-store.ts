import { type Clock, minuteMs } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { createRowBuffer } from '../../storage/row-buffer.ts';
import type { LookAtUsage } from '../counters.ts';
import { kindOf } from '../rules/address.ts';
import { areEnded, closeEnded, newWindows, type Windows } from '../rules/windows.ts';
import {
  fromConductRow,
  fromWindowsRow,
  savedConduct,
  savedWindows,
  selectWindowsOf,
  writeConduct,
  writeWindows,
} from './counter-rows.ts';
import type { MemoryCounters } from './memory-counters.ts';

/** Keeps the counts and bans of this process in the database, so that they survive a restart. */
export type CounterStore = ReturnType<typeof createCounterStore>;

/** Creates the store of a process's counts. */
export function createCounterStore(options: { counters: MemoryCounters; database: Database; clock: Clock }) {
  const { counters, database, clock } = options;
  const windows = createRowBuffer(database, writeWindows, undefined, counters.changed.windows);
  const conduct = createRowBuffer(database, writeConduct, undefined, counters.changed.keys);

  return {
    /** Reads the stored counts and bans that are still valid. Call it once, before the first request. */
    async load(): Promise<void> {
      const nowMs = clock();
      await loadWindows(database, counters, nowMs);
      for await (const row of savedConduct.read(database, nowMs))
        counters.keys.set(row.key_id, fromConductRow(row));
    },

    /**
     * Writes the changes since the last flush. Call it twice a second and at shutdown. Throws AppError `unavailable` if
     * not all changes could be written. The rest waits for the next flush.
     */
    async flush(): Promise<void> {
      await windows.flush();
      await conduct.flush();
    },

    /** Forgets and deletes a bounded number of bans and rows without effect. Call it once a second. */
    async sweep(): Promise<void> {
      const nowMs = clock();
      counters.sweep(nowMs);
      await savedWindows.deleteEnded(database, nowMs - minuteMs);
      await savedConduct.deleteEnded(database, nowMs);
    },
  };
}

async function loadWindows(database: Database, counters: MemoryCounters, nowMs: number): Promise<void> {
  const loaded: [subject: string, windows: Windows][] = [];
  for await (const row of savedWindows.read(database, nowMs - minuteMs)) {
    const windows = fromWindowsRow(row);
    closeEnded(windows, nowMs);
    if (!areEnded(windows, nowMs)) loaded.push([row.subject, windows]);
  }
  // The counters drop the addresses seen longest ago. The start of the day window stands for the time of the last
  // request, which is not stored.
  loaded.sort(([, one], [, other]) => one.dayEndsAtMs - other.dayEndsAtMs);
  for (const [subject, windows] of loaded) counters.windows[kindOf(subject)].set(subject, windows);
}

/**
 * Creates a reader of the stored counts. The stored counts may be up to a second old. While the instances share their
 * counts in Redis, the counts are not in the store.
 */
export function createStoredLook(database: Database, clock: Clock): LookAtUsage {
  return async (subject) => {
    const [row] = await database.read(selectWindowsOf, { subject });
    const windows = row === undefined ? newWindows() : fromWindowsRow(row);
    const atMs = clock();
    closeEnded(windows, atMs);
    return { verdict: 'passed', atMs, ...windows, bannedUntilMs: 0 };
  };
}
