import type { Soon } from '../soon.ts';
import { type Database, statement } from './database.ts';

/** The version of all animals. Any change of an animal, an order or a category changes it. */
export interface Version {
  /** The version of all that was committed before, or null if nothing may be cached. Read it before the content. */
  read(): Soon<string | null>;
  /** Runs `act`, in which all reads share one version. Everything that reads in `act` must have begun before it. */
  share(act: () => void): void;
}

const selectVersion = statement<Record<never, never>>()((query, _, { storeVersion }) =>
  query.selectNoFrom(storeVersion.as('version')),
);

/** Creates the version of a store. Where the database can be read at once, the version is read at once. */
export function createVersion(database: Database): Version {
  return database.readNow === null ? createSharedReads(database) : createReadsAtOnce(database.readNow);
}

/** Reads once for each call of `share`, and else at each call. */
function createReadsAtOnce(readNow: NonNullable<Database['readNow']>): Version {
  let isShared = false;
  let shared: string | null = null;

  return {
    read() {
      if (shared !== null) return shared;
      const [row] = readNow(selectVersion, {});
      const version = row?.version ?? null;
      if (isShared) shared = version;
      return version;
    },
    share(act) {
      isShared = true;
      try {
        act();
      } finally {
        isShared = false;
        shared = null;
      }
    },
  };
}

/** One read serves all requests that come before it is sent. It is sent a turn after the read before it has ended. */
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
    read() {
      next ??= send();
      return next;
    },
    share: (act) => act(),
  };
}
