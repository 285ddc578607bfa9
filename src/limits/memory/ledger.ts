import { type Conduct, forgetAtMs, newConduct } from '../rules/bans.ts';
import { areEnded, newWindows, type Windows } from '../rules/windows.ts';

/** How many entries one sweep looks at: about a millisecond's work. */
export const sweptEntriesMax = 10_000;

/** Entries by name that remember which of them have changed since they were last taken to be stored. */
export interface Ledger<T> {
  readonly size: number;
  get(name: string): T | undefined;
  /** The entry of that name, a new one if there is none. */
  open(name: string): T;
  /** Sets the entry of that name, and makes it the newest. */
  set(name: string, entry: T): void;
  /** The name and the entry that were set first. */
  oldest(): [name: string, entry: T] | undefined;
  /** Drops an entry; the next batches have an empty one in its place. */
  drop(name: string): void;
  markChanged(name: string): void;
  /**
   * The entries that are marked when it begins, the longest marked first, in batches of at most `batchMax`; an empty
   * one for an entry that is gone. A batch has lost its marks when it is handed over: whoever fails to store it marks it
   * again.
   */
  drainChanged(batchMax: number): Generator<[name: string, entry: T][]>;
  /** Goes on looking at entries where the last call stopped, at a bounded number, and drops those that are over. */
  sweep(nowMs: number): void;
}

/** All that is counted in one process. */
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
  /** The last entry that `rest` gave: all before it are gone, or set anew and so behind it. */
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

    // A new iterator would pass over all that has been deleted before it: 70 us among 100,000.
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
