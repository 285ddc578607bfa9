import { minuteMs } from '../clock.ts';
import { type Database, defineWork, step } from '../storage/database.ts';
import { updateKeyLastUse } from './api-key-rows.ts';

/** How many rows one transaction writes: about a millisecond of SQLite's work. */
const writtenRowsMax = 250;

/** When keys were last used, to the minute: noted in memory, and written behind once a minute for each key. */
export interface KeyUses {
  note(keyId: string, nowMs: number): void;
  /** Writes what was noted. Throws AppError `unavailable` where not all could be written: the rest is kept. */
  flush(): Promise<void>;
}

/** Notes uses in memory, one time a key; nothing is written before `flush`. */
export function createKeyUses(database: Database): KeyUses {
  const unwritten = new Map<string, number>();
  const noted = new Set<string>();
  let notedMinuteMs = 0;

  /** Uses that are noted meanwhile are later ones, so they take the place of those that are put back. */
  async function write(batch: [keyId: string, usedAtMs: number][]): Promise<void> {
    for (const [keyId] of batch) unwritten.delete(keyId);
    try {
      await database.transact(writeUses, batch);
    } catch (error) {
      for (const [keyId, usedAtMs] of batch) if (!unwritten.has(keyId)) unwritten.set(keyId, usedAtMs);
      throw error;
    }
  }

  return {
    note(keyId, nowMs) {
      const minute = nowMs - (nowMs % minuteMs);
      if (minute !== notedMinuteMs) noted.clear();
      notedMinuteMs = minute;
      if (noted.has(keyId)) return;
      noted.add(keyId);
      unwritten.set(keyId, minute);
    },

    async flush() {
      while (unwritten.size > 0) await write(unwritten.entries().take(writtenRowsMax).toArray());
    },
  };
}

/** Writes when keys were last used. In the order of the ids, so that two instances do not deadlock on the server. */
export const writeUses = defineWork(
  import.meta.url,
  'writeUses',
  function* (uses: readonly [keyId: string, usedAtMs: number][]) {
    for (const [id, usedAtMs] of uses.toSorted(([one], [other]) => (one < other ? -1 : 1)))
      yield* step(updateKeyLastUse, { id, lastUsedAtMs: BigInt(usedAtMs) });
  },
);
