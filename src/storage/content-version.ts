import type { Soon } from '../soon.ts';
import { type Database, statement } from './database.ts';

/** The version of all animals. Any change of an animal, an order or a category changes it. */
export interface Version {
  /** Call this when a request arrives that did not wait. On SQLite, the requests of one turn share a version. */
  openTurn(): void;
  /** The version of all that was committed before, or null if nothing may be cached. Read it before the content. */
  read(): Soon<string | null>;
  /** Call this after each commit of this process and before its response. */
  forget(): void;
}

const selectVersion = statement<Record<never, never>>()((query, _, { storeVersion }) =>
  query.selectNoFrom(storeVersion.as('version')),
);

/** Creates the version of a store. Where the database can be read at once, the version is read at once. */
export function createVersion(database: Database): Version {
  return database.readNow === null ? createSharedReads(database) : createTurnReads(database.readNow);
}

/** Reads once for each turn of the event loop, and again after each write. */
function createTurnReads(readNow: NonNullable<Database['readNow']>): Version {
  let isOpen = false;
  let remembered: string | null = null;

  function close(): void {
    isOpen = false;
    remembered = null;
  }

  return {
    openTurn() {
      if (isOpen) return;
      isOpen = true;
      setImmediate(close);
    },
    read() {
      if (remembered !== null) return remembered;
      const [row] = readNow(selectVersion, {});
      const version = row?.version ?? null;
      if (isOpen) remembered = version;
      return version;
    },
    forget() {
      remembered = null;
    },
  };
}

/** Reads once for all requests that come before the read is sent: after a turn and the read before it. */
function createSharedReads(database: Database): Version {
  let next: Promise<string | null> | null = null;
  let running: Promise<unknown> | null = null;

  async function send(): Promise<string | null> {
    try {
      // If the read before fails, so do the requests that came during it. Otherwise they would wait twice as long.
      await running;
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      next = null;
    }
    const reading = database.read(selectVersion, {});
    running = reading;
    try {
      const [row] = await reading;
      return row?.version ?? null;
    } finally {
      running = null;
    }
  }

  return {
    openTurn() {},
    read() {
      next ??= send();
      return next;
    },
    forget() {},
  };
}

/** Wraps a database. Calls `onWrite` after each write, also after a failed one, before the caller learns of it. */
export function noteWrites(database: Database, onWrite: () => void): Database {
  return {
    ...database,
    run: (target, parameters) => database.run(target, parameters).finally(onWrite),
    transact: (work, input) => database.transact(work, input).finally(onWrite),
    load: (...rows) => database.load(...rows).finally(onWrite),
  };
}
