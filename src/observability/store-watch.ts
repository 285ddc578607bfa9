import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import type { Registry } from 'prom-client';
import { type Clock, secondMs } from '../clock.ts';
import { isUnavailable, reasonOf } from '../errors.ts';
import { type Database, statement } from '../storage/database.ts';
import type { ByEngine } from '../storage/dialect.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import type { Log } from './log.ts';
import { createDurations, expose, labelled } from './metrics.ts';
import { redactKeys } from './safe-text.ts';

/** Time in ms after which an ongoing fault is logged again. */
export const repeatAfterMs = 10_000;
/** Time in ms without a failed call after which a fault is over, so that one with some successes is one fault. */
export const calmMs = 1_000;

/**
 * Watches the calls of a store: exposes their durations and the number that failed because the store was unavailable, and
 * logs the start of a fault, the ongoing fault every 10 s, and its end. `elapsedMs` is a monotonic clock.
 */
export function createStoreWatch(
  registry: Registry,
  log: Log,
  clock: Clock,
  elapsedMs = () => performance.now(),
) {
  const read = watchCalls('read', log, clock, elapsedMs);
  const write = watchCalls('written', log, clock, elapsedMs);
  const help = 'How long calls of the store took. A write ends when it is durable.';
  expose(registry, 'histogram', 'store_duration_seconds', help, () =>
    Object.entries({ read, write }).flatMap(([call, { durations }]) => durations.listSamples({ call })),
  );
  const failuresHelp = 'Calls that failed because the store was unavailable.';
  expose(registry, 'counter', 'store_failures_total', failuresHelp, () =>
    labelled('call', Object.entries({ read: read.countFailures(), write: write.countFailures() })),
  );

  return {
    /** Wraps a database so that its calls are watched. The caller never waits for this. */
    wrap(database: Database): Database {
      return {
        ...database,
        read: (statement, parameters) => read.watch(() => database.read(statement, parameters)),
        readAside: (statement, parameters) => read.watch(() => database.readAside(statement, parameters)),
        readNow: watchReadNow(database, read),
        run: (statement, parameters) => write.watch(() => database.run(statement, parameters)),
        transact: (...act) => write.watch(() => database.transact(...act)),
      };
    },

    /** Returns one short note if reads fail and one if writes fail. Empty if the store works. */
    listNotes: () => [read.note(), write.note()].filter((note) => note !== null),
  };
}

type CallWatch = ReturnType<typeof watchCalls>;

/** Watches either reads or writes. `what` completes the message "the store cannot be …". */
function watchCalls(what: string, log: Log, clock: Clock, elapsedMs: () => number) {
  const durations = createDurations();
  let failures = 0;
  let fault: ReturnType<typeof begin> | null = null;

  function begin(nowMs: number) {
    const since = new Date(clock()).toISOString();
    return { since, startedMs: nowMs, lastMs: nowMs, loggedMs: -Infinity, failures: 0, reason: '' };
  }

  function fail(error: unknown): void {
    if (!isUnavailable(error)) return;
    const nowMs = elapsedMs();
    failures += 1;
    fault ??= begin(nowMs);
    fault.failures += 1;
    fault.lastMs = nowMs;
    // A database may quote text from a client.
    fault.reason = redactKeys(reasonOf(error.cause ?? error));
    if (nowMs - fault.loggedMs < repeatAfterMs) return;
    fault.loggedMs = nowMs;
    log.error(
      { since: fault.since, failures: fault.failures, reason: fault.reason },
      `the store cannot be ${what}: ${fault.reason}`,
    );
  }

  function succeed(): void {
    if (fault === null) return;
    const nowMs = elapsedMs();
    if (nowMs - fault.lastMs < calmMs) return;
    const ms = Math.round(nowMs - fault.startedMs);
    log.info({ since: fault.since, failures: fault.failures, ms }, `the store can be ${what} again`);
    fault = null;
  }

  function watch<T>(call: () => Promise<T>): Promise<T> {
    const startedMs = elapsedMs();
    const outcome = call();
    const noteDuration = () => durations.note(elapsedMs() - startedMs);
    outcome.then(noteDuration, noteDuration);
    outcome.then(succeed, fail);
    return outcome;
  }

  const note = () =>
    fault === null ? null : `the store cannot be ${what} since ${fault.since}: ${fault.reason}`;
  return { durations, countFailures: () => failures, watch, succeed, fail, note };
}

/** Nearly every request calls `readNow`, so no call creates a function or reads the clock, which takes longer than it. */
function watchReadNow({ readNow }: Database, { succeed, fail }: CallWatch): Database['readNow'] {
  if (readNow === null) return null;
  return (statement, parameters) => {
    try {
      const rows = readNow(statement, parameters);
      succeed();
      return rows;
    } catch (error) {
      fail(error);
      throw error;
    }
  };
}

const storeBytes: ByEngine<RawBuilder<bigint>> = {
  sqlite: sql`(select page_count from pragma_page_count()) * (select page_size from pragma_page_size())`,
  postgres: sql`pg_database_size(current_database())`,
};

/** Selects the size of the store in bytes, on SQLite without its write-ahead log. */
const selectBytes = statement((query, _, { engine }) => query.selectNoFrom(storeBytes[engine].as('bytes')));

/** Exposes the size of the store, its free disk (SQLite) and its connections. Returns the function that measures again. */
export function exposeStoreSize(
  registry: Registry,
  database: Database,
  databaseUrl: string,
  readLastBackup: () => Promise<number | null>,
): () => Promise<void> {
  const { location } = parseStoreAddress(databaseUrl);
  let bytes: number | null = null;
  let freeBytes: number | null = null;
  let backedUpAtMs: number | null = null;
  const backupHelp = 'Unix time of the last backup that the store knows of; 0 if there is none.';
  const lastBackup = () => (backedUpAtMs ?? 0) / secondMs;
  expose(registry, 'gauge', 'last_backup_timestamp_seconds', backupHelp, lastBackup);
  const sizeHelp = 'Size of the store, without its write-ahead log.';
  expose(registry, 'gauge', 'store_size_bytes', sizeHelp, () => bytes);
  const diskHelp = 'Free space on the disk of the store. Absent on PostgreSQL.';
  expose(registry, 'gauge', 'store_disk_free_bytes', diskHelp, () => freeBytes);
  const help = 'Connections to the store by state, and calls that wait for one.';
  expose(registry, 'gauge', 'store_connections', help, () =>
    labelled('state', Object.entries(database.countConnections())),
  );

  return async () => {
    const [row] = await database.read(selectBytes, {});
    bytes = Number(row?.bytes);
    // The location of a PostgreSQL store is no file, so it has no free space.
    const disk = await statfs(dirname(location)).catch(() => null);
    freeBytes = disk && disk.bavail * disk.bsize;
    backedUpAtMs = await readLastBackup();
  };
}
