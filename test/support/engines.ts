import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe } from 'node:test';
import { isPostgresUrl } from '../../src/postgres-address.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { openPostgres } from '../../src/storage/postgres/database.ts';
import {
  createEmptyPostgres,
  createPostgresStore,
  executePostgres,
  type PostgresDatabase,
  readPostgresAddress,
} from './postgres-databases.ts';
import type { Ending } from './service.ts';
import { createSqliteStore } from './sqlite-files.ts';

/** The writing thread's entry that also knows the tests' own transactions. */
export const testThread = new URL('writing-thread.ts', import.meta.url);

/** A store for one test. After the test, its connections are closed and the store is dropped. */
export interface Store {
  /** The `DATABASE_URL` of the store. */
  readonly url: string;
  /** Opens another connection, as another instance does. `address` may be a different address of the same store. */
  open(address?: string): Promise<Database>;
  /** Runs SQL directly on the database. Returns the rows if the SQL is a single statement. */
  execute<Row = unknown>(sql: string): Promise<Row[]>;
}

export interface Engine {
  readonly name: string;
  /** For the option `skip` of `describe`: the reason if this machine cannot run the tests, otherwise false. */
  readonly skip: string | false;
  /** Creates a store with the newest schema and no content. */
  createStore(test: Ending): Promise<Store>;
  /** Creates a store that has no schema yet, for tests of opening and migrating. */
  createEmptyStore(test: Ending): Promise<Store>;
}

export const sqliteEngine: Engine = {
  name: 'SQLite',
  skip: false,
  createStore: (test) => createSqlite(test, createSqliteStore),
  createEmptyStore: (test) => createSqlite(test, async () => undefined),
};

async function createSqlite(test: Ending, make: (path: string) => Promise<void>): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const path = join(folder, 'store.db');
  await make(path);
  return createStore(test, `sqlite:${path}`, {
    async execute(sql) {
      using database = new DatabaseSync(path, { timeout: 5_000 });
      return database.prepare(sql).all();
    },
    drop: () => rm(folder, { recursive: true }),
  });
}

/**
 * Returns the PostgreSQL at TEST_DATABASE_URL. Without a server, prints a message and the tests are skipped. With
 * CI=true, throws instead.
 */
export async function findPostgres(): Promise<Engine> {
  const address = readPostgresAddress();
  const skip = await whyUnreachable(address.href);
  if (skip !== false && process.env['CI'] === 'true') throw new Error(skip);
  if (skip !== false) process.stderr.write(`\nSKIPPED: ${skip}\n`);
  return {
    name: 'PostgreSQL',
    skip,
    createStore: async (test) => createPostgres(test, await createPostgresStore(address)),
    createEmptyStore: async (test) => createPostgres(test, await createEmptyPostgres(address)),
  };
}

export async function findEngines(): Promise<readonly Engine[]> {
  return [sqliteEngine, await findPostgres()];
}

export async function describeOnEngines(title: string, declare: (engine: Engine) => void): Promise<void> {
  for (const engine of await findEngines())
    describe(`${title} on ${engine.name}`, { skip: engine.skip }, () => declare(engine));
}

export async function openStore(test: Ending, { createStore }: Engine) {
  const store = await createStore(test);
  return { store, database: await store.open() };
}

/**
 * Returns the engine of a PostgreSQL server that a test may stop. `url` is the address of any database of the server.
 * The first to open a store migrates it.
 */
export function postgresAt(url: string): Engine {
  const create = async (test: Ending) => createPostgres(test, await createEmptyPostgres(new URL(url)));
  return { name: 'PostgreSQL', skip: false, createStore: create, createEmptyStore: create };
}

async function whyUnreachable(url: string): Promise<string | false> {
  try {
    await executePostgres(url, 'select 1');
    return false;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `no PostgreSQL server for the tests (${code ?? message}); start one and name it in TEST_DATABASE_URL`;
  }
}

function createPostgres(test: Ending, { url, release }: PostgresDatabase): Store {
  return createStore(test, url, { execute: (sql) => executePostgres(url, sql), drop: release });
}

function createStore(
  test: Ending,
  url: string,
  { execute, drop }: { execute: (sql: string) => Promise<unknown[]>; drop: () => Promise<unknown> },
): Store {
  const opened: Database[] = [];
  test.after(async () => {
    try {
      await Promise.all(opened.map((database) => database.close()));
    } finally {
      await drop();
    }
  });
  return {
    url,
    execute: async <Row>(sql: string) => (await execute(sql)) as Row[],
    async open(address = url) {
      // Tests may add parameters of the driver, which the address of a service must not have.
      const database = isPostgresUrl(address)
        ? await openPostgres(address)
        : await openDatabase(address, testThread);
      opened.push(database);
      return database;
    },
  };
}
