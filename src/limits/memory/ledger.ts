import { LRUCache } from 'lru-cache';
import { addressesMax } from '../counters.ts';
import { type Conduct, forgetAtMs, newConduct } from '../rules/bans.ts';
import { areEnded, newWindows, type Windows } from '../rules/windows.ts';

/** Maximum number of entries that one sweep checks. 10,000 entries take about 1 ms. */
export const sweptEntriesMax = 10_000;

/**
 * Entries by name. An entry is marked if it has changed since it was last stored. Beyond the bound of addresses, the one
 * seen longest ago is dropped.
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
  /** Deletes entries without effect. Checks at most `sweptEntriesMax` entries. */
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
  const isForgotten = (conduct: Conduct, nowMs: number) => forgetAtMs(conduct) <= nowMs;
  return {
    accounts: createLedger(newWindows, areEnded, createUnbounded),
    addresses: createLedger(newWindows, areEnded, createBounded(addressCountMax)),
    readers: createLedger(newWindows, areEnded, createBounded(addressCountMax)),
    keys: createLedger(newConduct, isForgotten, createUnbounded),
  };
}

/** What a map and a cache have in common. */
interface Entries<T> {
  readonly size: number;
  get(name: string): T | undefined;
  /** Like `get`, but does not count as seeing the entry. */
  peek(name: string): T | undefined;
  set(name: string, entry: T): unknown;
  delete(name: string): boolean;
  /** Lists names to sweep, at most `sweptEntriesMax`. */
  listSome(): string[];
}

/** Creates entries without a bound. A map takes a quarter less memory than a cache. */
function createUnbounded<T>(): Entries<T> {
  const entries = new Map<string, T>();
  let rest = entries.keys();
  return Object.assign(entries, {
    peek: (name: string) => entries.get(name),
    /** Continues where the last call stopped. */
    listSome() {
      const names = rest.take(sweptEntriesMax).toArray();
      if (names.length < sweptEntriesMax) rest = entries.keys();
      return names;
    },
  });
}

/** Beyond `max` entries, drops the one seen longest ago, and tells its name to `onDrop`. */
function createBounded(max: number) {
  return <T extends object>(onDrop: (name: string) => void): Entries<T> => {
    const entries = new LRUCache<string, T>({
      // The option `max` would allocate memory for all entries at once.
      maxSize: max,
      sizeCalculation: () => 1,
      dispose: (_entry, name, reason) => {
        if (reason === 'evict') onDrop(name);
      },
    });
    // The entries seen longest ago are the first to end.
    return Object.assign(entries, { listSome: () => entries.rkeys().take(sweptEntriesMax).toArray() });
  };
}

function createLedger<T extends object>(
  create: () => T,
  isOver: (entry: T, nowMs: number) => boolean,
  createEntries: (onDrop: (name: string) => void) => Entries<T>,
): Ledger<T> {
  const changed = new Set<string>();
  const entries = createEntries((name) => changed.add(name));

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
      for (const name of entries.listSome()) {
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
