import { type RawBuilder, sql } from 'kysely';
import type { Soon } from '../promises.ts';
import { type Database, statement } from './database.ts';
import type { ByEngine } from './dialect.ts';

/** The version of all animals. Any change of an animal, an order or a category changes it. */
export interface Version {
  /** The version of all that was committed before, or null if nothing may be cached. Read it before the content. */
  read(): Soon<string | null>;
  /** Runs `act`, in which all reads share one version. Everything that reads in `act` must have begun before it. */
  share(act: () => void): void;
}

/** Number of events without a position from which the version is unknown, because counting more takes too long. */
const countedEventsMax = 1_000;

const versions: ByEngine<RawBuilder<string | null>> = {
  /** The newest position of the feed, even if its event is deleted. */
  sqlite: sql`(
    select cast(max(deleted_to, coalesce((select max(id) from events), 0)) as text) from event_horizon)`,
  /**
   * The newest position of the feed, the number of events that have no position yet, the start of the server and its
   * timeline. While no event gets a position, that number only grows; when events get one, the newest position grows. So
   * two equal versions have seen the same commits, as long as the server loses none (synchronous_commit).
   */
  postgres: sql`(
    select case when waiting < ${sql.lit(countedEventsMax)} and not pg_is_in_recovery() then
      concat_ws(' ', newest, waiting, extract(epoch from pg_postmaster_start_time()),
        left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)) end
    from (select greatest(deleted_to, (select max(id) from events)) as newest,
        (select count(*) from (select from event_outbox limit ${sql.lit(countedEventsMax)}) as counted) as waiting
      from event_horizon offset 0) as feed)`,
};

/** Selects a text that changes with every commit that writes an event, and never comes again. Null where it is unknown. */
const selectVersion = statement((query, _, { engine }) => query.selectNoFrom(versions[engine].as('version')));

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
