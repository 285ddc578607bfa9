import type { ChildProcess } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { amplePlan, type MadeKey } from '../test/support/instances.ts';
import {
  type Ended,
  type ProcessOptions,
  runProgram,
  type ServiceProcess,
  serveInProcess,
} from '../test/support/processes.ts';
import type { TortureContext } from './scenario.ts';

/** A store in an SQLite file, on which services are started one after the other, each in a process of its own. */
export interface EmbeddedStore {
  readonly file: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Starts a service in a process group of its own; throws with its log where it does not listen. */
  start(): Promise<ServiceProcess>;
  /** Runs a command of the program to its end. */
  run(...args: string[]): Promise<Ended>;
  /** Makes a key whose plan no load comes near to, with further options of `keys create`. */
  createKey(...options: string[]): Promise<MadeKey>;
  /** What a statement finds in the file, past the service; integers come as bigints. */
  query(sql: string): readonly Record<string, unknown>[];
}

/** `options` are those of each of its processes. */
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
      const { code, stdout, stderr } = await run('keys', 'create', ...amplePlan, ...more, '--json');
      if (code !== 0) throw new Error(`no key could be made: ${stderr}`);
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

/** Kills a process and all that it has started, if it is still there. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Throws where SQLite finds that the file is not whole. */
export function requireWhole(store: EmbeddedStore): void {
  const [verdict] = store.query('pragma integrity_check');
  if (verdict?.['integrity_check'] !== 'ok')
    throw new Error(`the file is not whole: ${verdict?.['integrity_check']}`);
}
