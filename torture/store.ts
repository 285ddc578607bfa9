import { DatabaseSync } from 'node:sqlite';
import { readCommand, runInProcess } from '../test/support/command-line.ts';
import { findPostgres } from '../test/support/engines.ts';
import { amplePlan, type MadeKey } from '../test/support/instances.ts';
import {
  type Ended,
  type ProcessOptions,
  runProgram,
  type ServiceProcess,
  serveInProcess,
} from '../test/support/processes.ts';
import type { Query } from './invariants.ts';
import { Skipped, type TortureContext } from './scenario.ts';

/** A store, with the services and commands that use it, each in its own process. */
export interface Store {
  readonly settings: Readonly<Record<string, string>>;
  /** Starts a service, with more settings if given. Throws an error with the log if the service does not listen. */
  start(settings?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** Runs a command of the program until it ends. */
  run(...args: string[]): Promise<Ended>;
  /** Creates a key. Without options of `keys create`, it has limits that no load reaches. */
  createKey(...options: string[]): Promise<MadeKey>;
  /** Runs SQL on the database directly. */
  readonly query: Query;
}

export interface EmbeddedStore extends Store {
  readonly file: string;
}

/** Creates a store in an SQLite file. `options` apply to each process that uses the store. */
export function createEmbeddedStore(
  context: TortureContext,
  file: string,
  options: ProcessOptions = {},
): EmbeddedStore {
  return {
    ...createStore(context, `sqlite:${file}`, options, async (sql) => querySqlite(file, sql)),
    file,
  };
}

/**
 * Creates an empty store on the PostgreSQL of the tests. `reach` changes the address at which services reach it. Throws
 * Skipped without a server.
 */
export async function createSharedStore(
  context: TortureContext,
  settings: Record<string, string> = {},
  reach = async (url: string) => url,
): Promise<Store> {
  const postgres = await findPostgres();
  if (postgres.skip !== false) throw new Skipped(postgres.skip);
  const { url, execute } = await postgres.createStore(context);
  return createStore(context, await reach(url), { settings }, async (sql) => (await execute(sql)) as Row[]);
}

type Row = Record<string, unknown>;

export function createStore(
  context: Pick<TortureContext, 'after'>,
  url: string,
  options: ProcessOptions,
  query: Query,
): Store {
  const settings = { ENVIRONMENT: 'staging', DATABASE_URL: url, ...options.settings };
  return {
    settings,
    query,
    run: (...args) => runProgram(args, { ...options, settings }),
    start: (more) => serveInProcess(context, { ...options, settings: { ...settings, ...more } }),
    async createKey(...more) {
      await runInProcess('migrate', url);
      const create = ['keys', 'create', ...(more.length === 0 ? amplePlan : more)];
      return readCommand(create, url, { settings });
    },
  };
}

function querySqlite(file: string, sql: string): Row[] {
  // A connection that may write would recover the store after a kill, in place of the service.
  const readOnly = !sql.startsWith('update');
  const database = new DatabaseSync(file, { timeout: 10_000, readBigInts: true, readOnly });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** Throws if SQLite finds damage in the store. PostgreSQL is not checked. */
export async function requireWhole({ settings, query }: Store): Promise<void> {
  if (!settings['DATABASE_URL']?.startsWith('sqlite:')) return;
  const [verdict] = await query('pragma integrity_check');
  if (verdict?.['integrity_check'] !== 'ok')
    throw new Error(`the file is not whole: ${verdict?.['integrity_check']}`);
}
