import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { executePostgres, readPostgresAddress, takePostgresDatabase } from './postgres-databases.ts';

/** A store of one test's own; what the test has opened is closed, and the store dropped, when the test ends. */
export interface Store {
  /** Its address, as `DATABASE_URL` has it. */
  readonly url: string;
  /** Opens it once more, as another instance does; `address` is another way to it. */
  open(address?: string): Promise<Database>;
  /** Runs SQL past the service, as an operator does; gives the rows of a single statement. */
  execute(sql: string): Promise<readonly unknown[]>;
}

/** A kind of database that the contracts are run on. */
export interface Engine {
  readonly name: string;
  /** Why its tests cannot be run here; false where they can. For `describe`'s option of that name. */
  readonly skip: string | false;
  createStore(test: Pick<TestContext, 'after'>): Promise<Store>;
}

export const sqliteEngine: Engine = {
  name: 'SQLite',
  skip: false,
  async createStore(test) {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
    const path = join(folder, 'store.db');
    return createStore(test, `sqlite:${path}`, {
      async execute(sql) {
        const database = new DatabaseSync(path, { timeout: 5_000 });
        try {
          return database.prepare(sql).all();
        } finally {
          database.close();
        }
      },
      drop: () => rm(folder, { recursive: true }),
    });
  },
};

/**
 * PostgreSQL at TEST_DATABASE_URL. Where no server answers its tests are skipped, and say so; with CI=true that is a
 * failure.
 */
export async function findPostgres(): Promise<Engine> {
  const address = readPostgresAddress();
  const skip = await whyUnreachable(address.href);
  if (skip !== false && process.env['CI'] === 'true') throw new Error(skip);
  if (skip !== false) process.stderr.write(`\nSKIPPED: ${skip}\n`);
  return { name: 'PostgreSQL', skip, createStore: (test) => createPostgresStore(test, address) };
}

/** A PostgreSQL server that is known to be there, at the address of one of its databases. */
export function postgresAt(url: string): Engine {
  return {
    name: 'PostgreSQL',
    skip: false,
    createStore: (test) => createPostgresStore(test, new URL(url)),
  };
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

async function createPostgresStore(test: Pick<TestContext, 'after'>, server: URL): Promise<Store> {
  const { url, release } = await takePostgresDatabase(server);
  return createStore(test, url, { execute: (sql) => executePostgres(url, sql), drop: release });
}

function createStore(
  test: Pick<TestContext, 'after'>,
  url: string,
  { execute, drop }: { execute: Store['execute']; drop: () => Promise<unknown> },
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
    execute,
    async open(address = url) {
      const database = await openDatabase(address);
      opened.push(database);
      return database;
    },
  };
}
