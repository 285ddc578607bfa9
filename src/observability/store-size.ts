import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import type { Registry } from 'prom-client';
import { type Database, statement } from '../storage/database.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { expose, exposeGauge } from './metrics.ts';

const selectBytes = statement<Record<never, never>>()((query) =>
  query.selectNoFrom(sql<bigint>`pg_database_size(current_database())`.as('bytes')),
);

/**
 * Exposes the size of the store, the free space of its disk (SQLite), and the use of its connections. Returns the
 * function that measures the sizes again.
 */
export function exposeStoreSize(
  registry: Registry,
  database: Database,
  databaseUrl: string,
): () => Promise<void> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  let bytes: number | null = null;
  let freeBytes: number | null = null;
  exposeGauge(registry, 'store_size_bytes', 'Size of the store, with its write-ahead log.', () => bytes);
  const diskHelp = 'Free space on the disk of the store. Absent on PostgreSQL.';
  exposeGauge(registry, 'store_disk_free_bytes', diskHelp, () => freeBytes);
  const help = 'Connections to the store by state, and calls that wait for one.';
  expose(registry, { name: 'store_connections', type: 'gauge', help }, () =>
    Object.entries(database.countConnections()).map(([state, value]) => ({ labels: { state }, value })),
  );

  return async () => {
    if (engine === 'postgres') {
      const [row] = await database.read(selectBytes, {});
      bytes = Number(row?.bytes);
      return;
    }
    const log = await stat(`${location}-wal`).catch(() => null);
    bytes = (await stat(location)).size + (log?.size ?? 0);
    const { bavail, bsize } = await statfs(dirname(location));
    freeBytes = bavail * bsize;
  };
}
