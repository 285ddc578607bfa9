import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Registry } from 'prom-client';
import { type Database, statement } from '../storage/database.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { exposeBy, exposeGauge } from './metrics.ts';

const selectBytes = statement<Record<never, never>>()((query, _, { storeBytes }) =>
  query.selectNoFrom(storeBytes.as('bytes')),
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
  const { location } = parseStoreAddress(databaseUrl);
  let bytes: number | null = null;
  let freeBytes: number | null = null;
  exposeGauge(registry, 'store_size_bytes', 'Size of the store, without its write-ahead log.', () => bytes);
  const diskHelp = 'Free space on the disk of the store. Absent on PostgreSQL.';
  exposeGauge(registry, 'store_disk_free_bytes', diskHelp, () => freeBytes);
  const help = 'Connections to the store by state, and calls that wait for one.';
  exposeBy(registry, 'gauge', 'store_connections', help, 'state', () =>
    Object.entries(database.countConnections()),
  );

  return async () => {
    const [row] = await database.read(selectBytes, {});
    bytes = Number(row?.bytes);
    // The location of a PostgreSQL store is no file, so it has no free space.
    const disk = await statfs(dirname(location)).catch(() => null);
    freeBytes = disk && disk.bavail * disk.bsize;
  };
}
