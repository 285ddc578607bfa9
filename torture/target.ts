import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommand } from '../test/support/command-line.ts';
import { amplePlan, type MadeKey } from '../test/support/instances.ts';
import { type ServiceProcess, serveInProcess } from '../test/support/processes.ts';
import type { TortureContext } from './scenario.ts';

/**
 * The service in its own process, with its memory and its descriptors. It uses an SQLite file unless the settings name
 * another store.
 */
export interface Target extends ServiceProcess {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** Creates a key with options of `keys create`. Without options, the key has limits that no load reaches. */
  createKey(...options: string[]): Promise<MadeKey>;
  /** Runs a command of the program while the service runs, and returns the parsed JSON output. */
  command<T>(...args: string[]): Promise<T>;
  /** Returns the resident memory in MiB. */
  readMemoryMib(): number;
  countDescriptors(): number;
}

/** Starts the service, as an argument of the command `wrapper` if given. Kills the service when the scenario ends. */
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

  const command = <T>(...args: string[]) => readCommand<T>(args, settings.DATABASE_URL, { settings });

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

/** Returns a loopback address for a number below 15 million. Each number has its own address, never 127.0.0.1. */
export function loopbackAddress(number: number): string {
  return `127.${1 + (Math.floor(number / 62_500) % 250)}.${Math.floor(number / 250) % 250}.${1 + (number % 250)}`;
}
