import { LRUCache } from 'lru-cache';
import { addressesMax } from '../counters.ts';
import { type Conduct, forgetAtMs, newConduct } from '../rules/bans.ts';
import { areEnded, newWindows, type Windows } from '../rules/windows.ts';

/** Maximum number of entries that one sweep checks. 10,000 entries take about 1 ms. */
export const sweptEntriesMax = 10_000;

/**
 * Entries by name, in the order in which they were last seen. An entry is marked if it has changed since it was last
 * stored. If there are too many entries, the one seen longest ago is dropped.
 */
export interface Ledger<T> {
  readonly size: number;
  /** Returns the entry of that name, which is now the one seen last. */
  get(name: string): T | undefined;
  /** Like `get`, but creates the entry if it does not exist. */
  open(name: string): T;
  set(name: string, entry: T): void;
  /** Deletes an entry and marks its name. The next drain then yields an empty entry, which replaces the stored one. */
  drop(name: string): void;
  markChanged(name: string): void;
  /**
   * Yields the entries that are marked when the call starts, oldest mark first, in batches of at most `batchMax`. A
   * deleted entry appears as an empty entry.
   *
   * A batch loses its marks before it is yielded. If the batch cannot be stored, mark its entries again.
   */
  drainChanged(batchMax: number): Generator<[name: string, entry: T][]>;
  /** Deletes entries without effect, among the `sweptEntriesMax` that were seen longest ago. */
  sweep(nowMs: number): void;
}

/** All counts and bans of one process. */
export interface Ledgers {
  readonly accounts: Ledger<Windows>;
  readonly addresses: Ledger<Windows>;
  /** Counts of documentation requests, by address. */
  readonly readers: Ledger<Windows>;
  readonly keys: Ledger<Conduct>;
}

/** Creates empty ledgers. There are as many accounts and keys as operators create, so these have no bound. */
export function createLedgers(addressCountMax = addressesMax): Ledgers {
  const unbounded = Number.MAX_SAFE_INTEGER;
  return {
    accounts: createLedger(newWindows, areEnded, unbounded),
    addresses: createLedger(newWindows, areEnded, addressCountMax),
    readers: createLedger(newWindows, areEnded, addressCountMax),
    keys: createLedger(newConduct, (conduct, nowMs) => forgetAtMs(conduct) <= nowMs, unbounded),
  };
}

function createLedger<T extends object>(
  create: () => T,
  isOver: (entry: T, nowMs: number) => boolean,
  entriesMax: number,
): Ledger<T> {
  const changed = new Set<string>();
  const entries = new LRUCache<string, T>({
    // The option `max` would allocate memory for all entries at once.
    maxSize: entriesMax,
    sizeCalculation: () => 1,
    dispose: (_entry, name, reason) => {
      if (reason === 'evict') changed.add(name);
    },
  });

  return {
    get size() {
      return entries.size;
    },
    get: (name) => entries.get(name),

    open(name) {
      const known = entries.get(name);
      if (known !== undefined) return known;
      const entry = create();
      entries.set(name, entry);
      return entry;
    },

    set: (name, entry) => void entries.set(name, entry),

    drop(name) {
      entries.delete(name);
      changed.add(name);
    },

    markChanged: (name) => void changed.add(name),
    drainChanged: (batchMax) => drain(changed, (name) => entries.peek(name) ?? create(), batchMax),

    sweep(nowMs) {
      for (const name of entries.rkeys().take(sweptEntriesMax).toArray()) {
        const entry = entries.peek(name);
        if (entry !== undefined && isOver(entry, nowMs)) entries.delete(name);
      }
    },
  };
}

function* drain<T>(
  changed: Set<string>,
  entryOf: (name: string) => T,
  batchMax: number,
): Generator<[name: string, entry: T][]> {
  let left = changed.size;
  let batch: [string, T][] = [];
  for (const name of changed) {
    changed.delete(name);
    batch.push([name, entryOf(name)]);
    left -= 1;
    if (batch.length === batchMax || left === 0) {
      yield batch;
      batch = [];
    }
    if (left === 0) return;
  }
}
