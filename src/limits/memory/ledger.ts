import { type Conduct, forgetAtMs, newConduct } from '../rules/bans.ts';
import { areEnded, newWindows, type Windows } from '../rules/windows.ts';

/** How many entries one sweep checks: about a millisecond's work. */
export const sweptEntriesMax = 10_000;

/** Entries by name, with a mark on each entry that changed since it was last stored. */
export interface Ledger<T> {
  readonly size: number;
  get(name: string): T | undefined;
  /** The entry of that name. Creates it if it does not exist. */
  open(name: string): T;
  /** Sets the entry of that name and makes it the newest. */
  set(name: string, entry: T): void;
  /** The oldest entry and its name. */
  oldest(): [name: string, entry: T] | undefined;
  /** Deletes an entry. The next batches have an empty entry in its place. */
  drop(name: string): void;
  markChanged(name: string): void;
  /**
   * The entries that are marked at the start of the call, in batches of at most `batchMax`, oldest mark first. A
   * deleted entry appears as an empty one. A batch loses its marks when it is yielded: if it cannot be stored, mark
   * its entries again.
   */
  drainChanged(batchMax: number): Generator<[name: string, entry: T][]>;
  /** Checks a bounded number of entries, from where the last call stopped, and deletes those that have no effect any more. */
  sweep(nowMs: number): void;
}

/** All counts of one process. */
export interface Ledgers {
  readonly accounts: Ledger<Windows>;
  readonly addresses: Ledger<Windows>;
  /** The addresses that read the documentation. */
  readonly readers: Ledger<Windows>;
  readonly keys: Ledger<Conduct>;
}

/** Empty ledgers. */
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
  /**
   * The oldest entry, as `rest` last gave it. All entries before it are deleted, or were set again and are behind it.
   */
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

    // A new iterator would step over all deleted entries before the oldest: 70 us among 100,000.
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
