import type { Database, Transaction, Transactions } from './database.ts';

/** Maximum number of entries per transaction. SQLite writes 250 rows in about 1 ms. */
const writtenMax = 250;

/** Entries by name, as a transaction gets them, in the order of their names. */
export type NamedEntries<Entry> = readonly (readonly [name: string, entry: Entry])[];

/**
 * Creates a buffer of entries in memory, each under its own name, until `flush` writes them. `write` needs no other row for
 * an entry. `join` returns what two entries of one name are together. Without it, the later entry counts. `waiting` has the
 * entries that are not written.
 */
export function createRowBuffer<Entry>(
  database: Database,
  write: Transaction<NamedEntries<Entry>, void, keyof Transactions>,
  join: (earlier: Entry, later: Entry) => Entry = (_, later) => later,
  waiting = new Map<string, Entry>(),
) {
  let running: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    for (let left = waiting.size; left > 0; ) {
      const batch = waiting.entries().take(Math.min(left, writtenMax)).toArray();
      left -= batch.length;
      for (const [name] of batch) waiting.delete(name);
      // All instances write rows in the same order, so that they do not deadlock.
      batch.sort(([one], [other]) => (one < other ? -1 : 1));
      try {
        await database.transact(write, batch);
      } catch (error) {
        for (const [name, entry] of batch) {
          const later = waiting.get(name);
          waiting.set(name, later === undefined ? entry : join(entry, later));
        }
        throw error;
      }
    }
  }

  return {
    waiting,

    add(name: string, entry: Entry): void {
      const earlier = waiting.get(name);
      waiting.set(name, earlier === undefined ? entry : join(earlier, entry));
    },

    /** Writes the entries that wait, after an earlier flush. If a write fails, throws its error and keeps the rest. */
    flush(): Promise<void> {
      running = running.then(writeAll, writeAll);
      return running;
    },
  };
}
