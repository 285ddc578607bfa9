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
  await query(server.href, `create database ${name} template ${template} encoding 'UTF8'`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  try {
    return await task(address.href);
  } finally {
    await query(server.href, `drop database ${name} with (force)`);
  }
}

/** Does what autovacuum would soon do, so that the scenarios before do not change the result. */
export async function vacuum(databaseUrl: string): Promise<void> {
  await query(databaseUrl, 'vacuum analyze');
}

/** Runs SQL on a connection of its own. Returns the rows. */
export async function query<Row extends object>(databaseUrl: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
