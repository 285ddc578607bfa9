import { minuteMs } from '../clock.ts';
import { type Database, defineTransaction, step } from '../storage/database.ts';
import { updateKeyLastUse } from './key-rows.ts';

/** Maximum number of rows per transaction. SQLite writes 250 rows in about 1 ms. */
const writtenRowsMax = 250;

/** Records when keys were last used, to the minute. Uses stay in memory until `flush` writes them. */
export interface KeyUses {
  note(keyId: string, nowMs: number): void;
  /**
   * Writes the recorded uses. If a write fails, throws AppError `unavailable` and keeps the uses that are not written
   * yet.
   */
  flush(): Promise<void>;
}

/** Creates a recorder that keeps one use per key in memory. Only `flush` writes to the database. */
export function createKeyUses(database: Database): KeyUses {
  const unwritten = new Map<string, number>();
  const noted = new Set<string>();
  let notedMinuteMs = 0;
  /** Flushes run one after the other. So the last flush also waits for the writes of earlier flushes. */
  let running: Promise<void> = Promise.resolve();

  /** If the write fails, puts the uses back. A key that was used again in the meantime keeps the later use. */
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

/** Writes when keys were last used, ordered by key id, so that two instances do not deadlock in PostgreSQL. */
export const writeUses = defineTransaction(
  'writeUses',
  function* (uses: readonly [keyId: string, usedAtMs: number][]) {
    for (const [id, usedAtMs] of uses.toSorted(([one], [other]) => (one < other ? -1 : 1)))
      yield* step(updateKeyLastUse, { id, lastUsedAtMs: BigInt(usedAtMs) });
  },
);
