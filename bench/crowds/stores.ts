import { userInfo } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { query, vacuum, withDatabase } from '../instances/database.ts';
import { buildStore, copyStore, seedStore } from '../store.ts';
import { type Ground, withService } from './ground.ts';
import type { Row } from './row.ts';

/** Runs a task on a fresh copy of a store with animals and a key. */
export type WithStore = <T>(task: (store: Pick<Ground, 'databaseUrl' | 'key'>) => Promise<T>) => Promise<T>;

export interface StoresOptions {
  readonly folder: string;
  readonly animals: number;
  readonly postgresUrl: string;
}

const lookMs = 200;

/** Builds a store of an engine for a task. Every animal of the store has an event in the feed. */
export function withStores(
  engine: Row['engine'],
  options: StoresOptions,
  task: (withStore: WithStore) => Promise<void>,
): Promise<void> {
  return engine === 'SQLite' ? withFiles(options, task) : withDatabases(options, task);
}

async function withFiles(
  { folder, animals }: StoresOptions,
  task: (withStore: WithStore) => Promise<void>,
): Promise<void> {
  const seed = await buildStore(folder, animals);
  await task((use) => use({ databaseUrl: `sqlite:${copyStore(seed, folder, 'crowd')}`, key: seed.key }));
}

async function withDatabases(
  { folder, animals, postgresUrl }: StoresOptions,
  task: (withStore: WithStore) => Promise<void>,
): Promise<void> {
  const server = new URL(postgresUrl);
  if (server.username === '') server.username = userInfo().username;
  await withDatabase(server, async (seedUrl) => {
    const key = await seedStore({ ENVIRONMENT: 'production', DATABASE_URL: seedUrl }, animals);
    const service = { folder, databaseUrl: seedUrl, redisUrl: '', key, seconds: 0 };
    await withService(service, () => untilSequenced(seedUrl));
    await vacuum(seedUrl);
    const seedName = new URL(seedUrl).pathname.slice(1);
    await task((use) => withDatabase(server, (databaseUrl) => use({ databaseUrl, key }), seedName));
  });
}

/** Waits until each event of the import has its position in the feed. A running service assigns them. */
async function untilSequenced(databaseUrl: string): Promise<void> {
  const sql = 'select exists (select from event_outbox) as "isWaiting"';
  while ((await query<{ isWaiting: boolean }>(databaseUrl, sql))[0]?.isWaiting) await pause(lookMs);
}
