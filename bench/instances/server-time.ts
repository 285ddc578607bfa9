import { createClient } from '@redis/client';
import { Client } from 'pg';
import { readCpuMs } from '../processes.ts';

/** The CPU time of the servers behind the service so far, in milliseconds. */
export interface ServerTime {
  readonly redisMs: number;
  /** By process of PostgreSQL. */
  readonly postgresMs: ReadonlyMap<number, number>;
}

/** Reads the CPU time of the servers. */
export interface ServerTimes {
  read(): Promise<ServerTime>;
  close(): Promise<void>;
}

/** The CPU time of PostgreSQL between two readings, without processes that ended meanwhile. */
export function postgresMsBetween(before: ServerTime, after: ServerTime): number {
  let sumMs = 0;
  for (const [pid, ms] of after.postgresMs) sumMs += ms - (before.postgresMs.get(pid) ?? 0);
  return sumMs;
}

const backends = `select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() order by pid`;

/**
 * Reads the CPU time of both servers, which must run on this machine. Of PostgreSQL, only the processes with
 * connections to this database count.
 */
export async function openServerTimes(databaseUrl: string, redisUrl: string): Promise<ServerTimes> {
  const postgres = new Client({ connectionString: databaseUrl });
  const redis = createClient({ url: redisUrl, RESP: 2 });
  await Promise.all([postgres.connect(), redis.connect()]);
  return {
    async read() {
      const { rows } = await postgres.query<{ pid: number }>(backends);
      const info = String(await redis.sendCommand(['INFO', 'cpu']));
      const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, text]) => Number(text));
      return {
        postgresMs: new Map(rows.map(({ pid }) => [pid, readCpuMs(String(pid))])),
        redisMs: seconds.reduce((sum, value) => sum + value, 0) * 1_000,
      };
    },
    async close() {
      redis.destroy();
      await postgres.end();
    },
  };
}
