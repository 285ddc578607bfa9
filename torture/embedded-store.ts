import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { readCommand, runInProcess } from '../test/support/command-line.ts';
import { amplePlan, type MadeKey } from '../test/support/instances.ts';
import {
  type Ended,
  type ProcessOptions,
  runProgram,
  type ServiceProcess,
  serveInProcess,
} from '../test/support/processes.ts';
import type { TortureContext } from './scenario.ts';

/** A store in an SQLite file. One service after the other serves the store, each in its own process. */
export interface EmbeddedStore {
  readonly file: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Starts a service in its own process group. Throws an error with the log if the service does not listen. */
  start(): Promise<ServiceProcess>;
  /** Runs a command of the program until it ends. */
  run(...args: string[]): Promise<Ended>;
  /** Creates a key with limits that no load reaches. `options` are further options of `keys create`. */
  createKey(...options: string[]): Promise<MadeKey>;
  /** Runs a query on the file directly. Integers become bigints. */
  query(sql: string): readonly Record<string, unknown>[];
}

/** Creates a store. `options` apply to each process that uses the store. */
export function createEmbeddedStore(
  context: TortureContext,
  file: string,
  options: ProcessOptions = {},
): EmbeddedStore {
  const settings = {
    ENVIRONMENT: 'staging',
    PORT: '0',
    OPS_PORT: '0',
    DATABASE_URL: `sqlite:${file}`,
    ...options.settings,
  };
  const run = (...args: string[]) => runProgram(args, { ...options, settings });
  return {
    file,
    settings,
    run,
    start: () => serveInProcess(context, { ...options, settings, isGroupLeader: true }),
    async createKey(...more) {
      const create = ['keys', 'create', ...amplePlan, ...more];
      // With a wrapper, the file must belong to the user of the service.
      if (options.wrapper === undefined) {
        await runInProcess('migrate', settings.DATABASE_URL);
        return readCommand(create, settings.DATABASE_URL, { settings });
      }
      if (!existsSync(file)) await run('migrate');
      const { code, stdout, stderr } = await run(...create, '--json');
      if (code !== 0) throw new Error(`no key could be created: ${stderr}`);
      return JSON.parse(stdout) as MadeKey;
    },
    query(sql) {
      const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
      try {
        const statement = database.prepare(sql);
        statement.setReadBigInts(true);
        return statement.all();
      } finally {
        database.close();
      }
    },
  };
}

/** Kills a process and its children, if it still exists. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Throws if SQLite finds damage in the file. */
export function requireWhole(store: EmbeddedStore): void {
  const [verdict] = store.query('pragma integrity_check');
  if (verdict?.['integrity_check'] !== 'ok')
    throw new Error(`the file is not whole: ${verdict?.['integrity_check']}`);
}
