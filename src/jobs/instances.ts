import { hostname } from 'node:os';
import { sql } from 'kysely';
import manifest from '../../package.json' with { type: 'json' };
import { type Clock, secondMs } from '../clock.ts';
import { randomText } from '../random-text.ts';
import { type Database, statement } from '../storage/database.ts';

/** Interval in ms at which an instance writes that it runs. */
export const beatMs = 10 * secondMs;
/** Time in ms after which an instance that has written nothing is not listed. */
const silentMsMax = 30 * secondMs;

/** A running instance. */
export interface Instance {
  readonly host: string;
  readonly version: string;
  /** Unix milliseconds, by the clock of the instance. */
  readonly startedAtMs: number;
  /** True for the one that answers. */
  readonly isThis: boolean;
}

/** The instances on a store, of which this is one. */
export type Instances = ReturnType<typeof createInstances>;

/**
 * Creates the list of the instances on a store. Each writes a row every `beatMs`, so one that was killed stays in the list
 * for 30 s, and one of release 1.2.0 is not in it. A SQLite store has one instance, which writes no row.
 */
export function createInstances(database: Database, clock: Clock) {
  const id = randomText(16);
  const own = { host: hostname(), version: manifest.version, startedAtMs: clock() };
  const row = { id, host: own.host, version: own.version, started_at_ms: BigInt(own.startedAtMs) };
  const isAlone = database.hasOneWriter;
  let hasLeft = false;
  let beating = Promise.resolve();

  async function write(): Promise<void> {
    await database.run(noteInstance, row);
    await database.run(forgetSilent, {});
  }

  return {
    own,

    /** Writes that this instance runs, and forgets those that have not done so for a while. */
    beat(): Promise<void> {
      if (!isAlone && !hasLeft) beating = write();
      return beating;
    },

    /** Takes this instance off the list for good. If the store cannot be written, the others forget it. May hang as the store. */
    async leave(): Promise<void> {
      hasLeft = true;
      // A write that is running could add the row again after its deletion.
      await Promise.allSettled([beating]);
      if (!isAlone) await database.run(forgetInstance, { id }).catch(() => undefined);
    },

    /** Returns this instance and then the others, those that have run longest first. */
    async list(): Promise<Instance[]> {
      const others = isAlone ? [] : await database.read(selectOthers, { id });
      return [
        { ...own, isThis: true },
        ...others.map(({ host, version, started_at_ms: ms }) => ({
          host,
          version,
          startedAtMs: Number(ms),
          isThis: false,
        })),
      ];
    },
  };
}

type NewInstance = { id: string; host: string; version: string; started_at_ms: bigint };

const noteInstance = statement((query, p: NewInstance, { nowMs }) =>
  query
    .insertInto('instances')
    .values({ ...p, seen_at_ms: sql<bigint>`${nowMs}` })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ seen_at_ms: ({ ref }) => ref('excluded.seen_at_ms') }),
    ),
);

const selectOthers = statement((query, p: { id: string }, { nowMs }) =>
  query
    .selectFrom('instances')
    .select(['host', 'version', 'started_at_ms'])
    .where('id', '<>', p.id)
    .where(sql<boolean>`seen_at_ms >= ${nowMs} - ${sql.lit(silentMsMax)}`)
    .orderBy('started_at_ms')
    .orderBy('id'),
);

const forgetInstance = statement((query, p: { id: string }) =>
  query.deleteFrom('instances').where('id', '=', p.id),
);

const forgetSilent = statement((query, _: Record<never, never>, { nowMs }) =>
  query.deleteFrom('instances').where(sql<boolean>`seen_at_ms < ${nowMs} - ${sql.lit(silentMsMax)}`),
);
