import type { ClientBase } from 'pg';
import { connectMsMax, createClient } from './client.ts';
import type { Requirement } from './facts.ts';

/** Maximum number of comparisons. The first one suffices, unless others use the pooler at the same moment. */
const comparisonsMax = 10;

/**
 * Checks that a connection keeps its server process. A pooler that lends processes by transaction loses prepared statements,
 * settings and locks, and its server may change after an instance has checked it. `client` is an open connection to `url`.
 */
export async function askSession(url: string, client: ClientBase): Promise<Requirement> {
  if (!(await isLentByTransaction(url, client)))
    return { check: 'store', is: 'each connection keeps its session', todo: null };
  return {
    check: 'store',
    is: 'a pooler in front of the server lends its connections by transaction',
    todo: 'set the pooler to session mode, or name the server itself in DATABASE_URL',
  };
}

async function isLentByTransaction(url: string, client: ClientBase): Promise<boolean> {
  const process = await askProcess(client);
  // When a connection opens, a server names the process that serves it. A pooler names one of its own making.
  if ((client as ClientBase & { readonly processID: number }).processID === process) return false;
  const other = createClient(url, { query_timeout: connectMsMax });
  try {
    await other.connect();
    for (let comparisons = 0; comparisons < comparisonsMax; comparisons += 1) {
      await other.query('begin');
      // Two sessions have two processes, and each keeps its own.
      if ((await askProcess(other)) === process || (await askProcess(client)) !== process) return true;
      await other.query('rollback');
    }
    return false;
  } finally {
    void other.end();
  }
}

async function askProcess(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ process: number }>('select pg_backend_pid()::float8 as process');
  return rows[0]?.process ?? 0;
}
