import { createClient } from '@redis/client';
import { Client } from 'pg';
import { readCpuMs } from '../processes.ts';

/** The total CPU time of PostgreSQL and Redis so far, in milliseconds. */
export interface ServerTime {
  readonly redisMs: number;
  /** By process id. */
  readonly postgresMs: ReadonlyMap<number, number>;
}

export interface ServerTimes {
  read(): Promise<ServerTime>;
  close(): Promise<void>;
}

/** Returns the CPU time of PostgreSQL between two readings. It lacks processes that ended between them. */
export function postgresMsBetween(before: ServerTime, after: ServerTime): number {
  let sumMs = 0;
  for (const [pid, ms] of after.postgresMs) sumMs += ms - (before.postgresMs.get(pid) ?? 0);
  return sumMs;
}

const backends = `select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() order by pid`;

/**
 * Connects to both servers, which must run on this machine. The CPU time of PostgreSQL includes only the processes that
 * serve connections to this database.
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
