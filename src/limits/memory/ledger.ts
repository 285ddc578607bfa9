import { type Conduct, forgetAtMs, newConduct } from '../rules/bans.ts';
import { areEnded, newWindows, type Windows } from '../rules/windows.ts';

/** Maximum number of entries that one sweep checks. 10,000 entries take about 1 ms. */
export const sweptEntriesMax = 10_000;

/** Entries by name. An entry is marked if it has changed since it was last stored. */
export interface Ledger<T> {
  readonly size: number;
  get(name: string): T | undefined;
  /** Returns the entry of that name. Creates the entry if it does not exist. */
  open(name: string): T;
  /** Sets the entry of that name and makes it the newest. */
  set(name: string, entry: T): void;
  /** Returns the oldest entry and its name; undefined if there are no entries. */
  oldest(): [name: string, entry: T] | undefined;
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
  /** Deletes entries without effect. Checks at most `sweptEntriesMax` entries, from where the last call stopped. */
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

/** Creates empty ledgers. */
export function createLedgers(): Ledgers {
  return {
    accounts: createLedger(newWindows, areEnded),
    addresses: createLedger(newWindows, areEnded),
    readers: createLedger(newWindows, areEnded),
    keys: createLedger(newConduct, (conduct, nowMs) => forgetAtMs(conduct) <= nowMs),
  };
}

function createLedger<T>(create: () => T, isOver: (entry: T, nowMs: number) => boolean): Ledger<T> {
  const entries = new Map<string, T>();
  const changed = new Set<string>();
  let rest = entries.entries();
  /** The oldest entry, as last read from `rest`. Earlier entries were deleted or moved to the end. */
  let first: [string, T] | undefined;

  function forget(name: string): void {
    entries.delete(name);
    if (first?.[0] === name) first = undefined;
  }

  const sweep = createSweep(entries, isOver, forget);

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

    set(name, entry) {
      forget(name);
      entries.set(name, entry);
    },

    // Keeps one iterator. A new iterator would step over all deleted entries before the oldest one. That takes 70 us
    // if there are 100,000.
    oldest() {
      first ??= rest.next().value;
      if (first === undefined) rest = entries.entries();
      return first;
    },

    drop(name) {
      forget(name);
      changed.add(name);
    },

    markChanged: (name) => changed.add(name),

    drainChanged: (batchMax) => drain(changed, (name) => entries.get(name) ?? create(), batchMax),
    sweep,
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

function createSweep<T>(
  entries: ReadonlyMap<string, T>,
  isOver: (entry: T, nowMs: number) => boolean,
  forget: (name: string) => void,
): (nowMs: number) => void {
  let unswept = entries.entries();

  return (nowMs) => {
    for (let looked = 0; looked < sweptEntriesMax; looked += 1) {
      const { value, done } = unswept.next();
      if (done) {
        unswept = entries.entries();
        return;
      }
      const [name, entry] = value;
      if (isOver(entry, nowMs)) forget(name);
    }
  };
}
