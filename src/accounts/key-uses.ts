import { minuteMs } from '../clock.ts';
import { type Database, defineWork, step } from '../storage/database.ts';
import { updateKeyLastUse } from './api-key-rows.ts';

/** The most rows in one transaction: about a millisecond of SQLite's work. */
const writtenRowsMax = 250;

/** Records when keys were last used, to the minute. Uses are kept in memory and written once a minute for each key. */
export interface KeyUses {
  note(keyId: string, nowMs: number): void;
  /** Writes the recorded uses. Throws AppError `unavailable` if it cannot write all of them, and keeps the rest. */
  flush(): Promise<void>;
}

/** Keeps one use for each key in memory. Only `flush` writes. */
export function createKeyUses(database: Database): KeyUses {
  const unwritten = new Map<string, number>();
  const noted = new Set<string>();
  let notedMinuteMs = 0;
  /** One flush runs at a time, so the last one also waits for what an earlier one writes. */
  let running: Promise<void> = Promise.resolve();

  /** If the write fails, it puts the uses back, except those of keys with a later use. */
  async function write(batch: [keyId: string, usedAtMs: number][]): Promise<void> {
    for (const [keyId] of batch) unwritten.delete(keyId);
    try {
      await database.transact(writeUses, batch);
    } catch (error) {
      for (const [keyId, usedAtMs] of batch) if (!unwritten.has(keyId)) unwritten.set(keyId, usedAtMs);
      throw error;
    }
  }

  async function writeAll(): Promise<void> {
    while (unwritten.size > 0) await write(unwritten.entries().take(writtenRowsMax).toArray());
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

    flush() {
      running = running.then(writeAll, writeAll);
      return running;
    },
  };
}

/** Writes when keys were last used, in the order of the ids, so that two instances do not deadlock in PostgreSQL. */
export const writeUses = defineWork(
  import.meta.url,
  'writeUses',
  function* (uses: readonly [keyId: string, usedAtMs: number][]) {
    for (const [id, usedAtMs] of uses.toSorted(([one], [other]) => (one < other ? -1 : 1)))
      yield* step(updateKeyLastUse, { id, lastUsedAtMs: BigInt(usedAtMs) });
  },
);
