import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/**
 * Runs a task on a new database of a server and drops the database afterwards. The database is a copy of `template`,
 * which must have no connections.
 */
export async function withDatabase<T>(
  server: URL,
  task: (databaseUrl: string) => Promise<T>,
  template = 'template0',
): Promise<T> {
  const name = `animal_store_bench_${randomUUID().replaceAll('-', '')}`;
  await execute(server.href, `create database ${name} template ${template} encoding 'UTF8'`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  try {
    return await task(address.href);
  } finally {
    await execute(server.href, `drop database ${name} with (force)`);
  }
}

/** Does what autovacuum would soon do, so that the scenarios before do not change the result. */
export const vacuum = (databaseUrl: string): Promise<void> => execute(databaseUrl, 'vacuum analyze');

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
