import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { createEmbeddedStore, killGroup, requireWhole } from '../embedded-store.ts';
import { startFleet } from '../follow/fleet.ts';
import type { Random } from '../random.ts';
import { Skipped, type TortureContext } from '../scenario.ts';
import type { Query } from './invariants.ts';

/** The services of a scenario, over one store. Each round kills one of them. */
export interface Shop {
  readonly key: string;
  /** The base address of each running service. */
  urls(): readonly string[];
  /** Kills one service. */
  kill(): Promise<void>;
  /** Replaces the killed service by a new one. */
  restart(): Promise<void>;
  /** Runs SQL directly on the store. */
  readonly query: Query;
  /** Resolves when the store has finished all transactions of the killed service. Throws if the store is damaged. */
  settle(): Promise<void>;
}

/** One service over an SQLite file. */
export async function openEmbeddedShop(context: TortureContext): Promise<Shop> {
  const store = createEmbeddedStore(context, `${context.folder}/store.db`);
  const { key } = await store.createKey('--scopes', 'all');
  let service = await store.start();
  return {
    key,
    urls: () => [service.url],
    async kill() {
      killGroup(service.child);
      await service.end();
    },
    async restart() {
      service = await store.start();
    },
    async query(sql) {
      const database = new DatabaseSync(store.file, { timeout: 10_000 });
      try {
        const statement = database.prepare(sql);
        statement.setReadBigInts(true);
        return statement.all();
      } finally {
        database.close();
      }
    },
    async settle() {
      requireWhole(store);
    },
  };
}

/** Three services over PostgreSQL and Redis. */
export async function openFleetShop(context: TortureContext, random: Random): Promise<Shop> {
  const missing = await whyNoRedisServer();
  if (missing !== false) throw new Skipped(missing);
  const { url } = await startRedisServer(context);
  const fleet = await startFleet(context, random, { REDIS_URL: url });
  const query: Query = async (sql) => (await fleet.store.execute(sql)) as Record<string, unknown>[];
  return {
    key: fleet.key,
    urls: fleet.urls,
    kill: fleet.kill,
    restart: fleet.replace,
    query,
    settle: () => untilDone(query),
  };
}

/** Waits for all earlier transactions, because PostgreSQL may still run transactions of a killed service. */
async function untilDone(query: Query): Promise<void> {
  const [{ now } = {}] = await query('select now()::text as now');
  const open = `select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < '${now}'`;
  while ((await query(open)).length > 0) await setTimeout(10);
}
