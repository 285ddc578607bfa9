import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { amplePlan, type MadeKey } from '../test/support/instances.ts';
import { runProgram, type ServiceProcess, serveInProcess } from '../test/support/processes.ts';
import type { TortureContext } from './scenario.ts';

/** The service in a process of its own, over an SQLite file unless its settings name another store, with all that is told of it to who measures. */
export interface Target extends ServiceProcess {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** A key by the options of `keys create`; without any, of an account that meets no limit. */
  createKey(...options: string[]): Promise<MadeKey>;
  /** Runs a command as an operator does, beside the service, and gives what it prints as JSON. */
  command<T>(...args: string[]): Promise<T>;
  /** Resident memory, in MiB. */
  readMemoryMib(): number;
  /** Open descriptors. */
  countDescriptors(): number;
}

/** Starts it, by a command of its own where one is named; it is killed when the scenario ends. */
export async function startTarget(
  context: Pick<TortureContext, 'folder' | 'after'>,
  extra: Record<string, string> = {},
  wrapper: readonly string[] = [],
): Promise<Target> {
  const file = `sqlite:${join(context.folder, 'animal-store.db')}`;
  const settings = { ENVIRONMENT: 'production', DATABASE_URL: file, ...extra };
  const service = await serveInProcess(context, { settings, wrapper });
  const { hostname, port } = new URL(service.url);
  const pid = service.child.pid ?? 0;

  async function command<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await runProgram([...args, '--json'], { settings });
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  return {
    ...service,
    host: hostname,
    port: Number(port),
    databaseUrl: settings.DATABASE_URL,
    command,
    createKey: (...options) => command('keys', 'create', ...(options.length === 0 ? amplePlan : options)),
    readMemoryMib: () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    countDescriptors: () => readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** An address of this machine for each number below 15 million, none of them 127.0.0.1. */
export function loopbackAddress(number: number): string {
  return `127.${1 + (Math.floor(number / 62_500) % 250)}.${Math.floor(number / 250) % 250}.${1 + (number % 250)}`;
}
