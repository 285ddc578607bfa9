import { readdirSync, readFileSync } from 'node:fs';
import { createClient } from '@redis/client';
import { Client } from 'pg';

/** The CPU time that the servers behind the service have used so far, in milliseconds. */
export interface ServerTimes {
  readonly postgresMs: number;
  readonly redisMs: number;
}

/** Reads the times of servers on this machine; those of processes that have ended are in that of their parent. */
export async function readServerTimes(databaseUrl: string, redisUrl: string): Promise<ServerTimes> {
  const [checkpointer, redisMs] = await Promise.all([findCheckpointer(databaseUrl), readRedisMs(redisUrl)]);
  const postmaster = readStat(String(checkpointer))?.parent;
  if (postmaster === undefined) throw new Error('the PostgreSQL server is not on this machine');
  const processes = readdirSync('/proc').flatMap((entry) => readStat(entry) ?? []);
  const postgresMs = processes
    .filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
    .reduce((sum, { pid, ownMs, endedMs }) => sum + ownMs + (pid === postmaster ? endedMs : 0), 0);
  return { postgresMs, redisMs };
}

/** A process that lives as long as its parent, the server. */
async function findCheckpointer(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      "select pid from pg_stat_activity where backend_type = 'checkpointer'",
    );
    return rows[0]?.pid ?? 0;
  } finally {
    await client.end();
  }
}

async function readRedisMs(url: string): Promise<number> {
  const client = createClient({ url, RESP: 2 });
  await client.connect();
  try {
    const told = String(await client.sendCommand(['INFO', 'cpu']));
    const seconds = [...told.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, text]) => Number(text));
    return seconds.reduce((sum, value) => sum + value, 0) * 1_000;
  } finally {
    client.destroy();
  }
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ownMs: number;
  /** What its children had used that have ended. */
  readonly endedMs: number;
}

/** Linux counts CPU time in ticks of 10 ms for programs. */
const tickMs = 10;

/** Null for what is no process, or one that has just ended. */
function readStat(entry: string): Stat | null {
  if (!/^\d+$/.test(entry)) return null;
  try {
    const fields = readFileSync(`/proc/${entry}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    return {
      pid: Number(entry),
      parent,
      ownMs: (utime + stime) * tickMs,
      endedMs: (cutime + cstime) * tickMs,
    };
  } catch {
    return null;
  }
}
