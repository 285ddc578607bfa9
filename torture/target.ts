import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceProcess } from '../test/support/processes.ts';
import type { TortureContext } from './scenario.ts';
import { createEmbeddedStore, type EmbeddedStore } from './store.ts';

/** The service over a new SQLite file, in its own process, with its memory and its descriptors. */
export interface Target extends ServiceProcess {
  readonly host: string;
  readonly port: number;
  readonly store: EmbeddedStore;
  /** Returns the resident memory in MiB. */
  readMemoryMib(): number;
  countDescriptors(): number;
}

/** Starts the service, as an argument of the command `wrapper` if given. Kills the service when the scenario ends. */
export async function startTarget(
  context: TortureContext,
  settings: Record<string, string> = {},
  wrapper: readonly string[] = [],
): Promise<Target> {
  const store = createEmbeddedStore(context, join(context.folder, 'store.db'), { settings, wrapper });
  const service = await store.start();
  const { hostname, port } = new URL(service.url);
  const pid = service.child.pid ?? 0;
  return {
    ...service,
    host: hostname,
    port: Number(port),
    store,
    readMemoryMib: () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    countDescriptors: () => readdirSync(`/proc/${pid}/fd`).length,
  };
}
