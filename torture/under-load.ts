import type { ServiceProcess } from '../test/support/processes.ts';
import { type Load, type LoadOptions, requireFewLines, requireKept, startLoad } from './load.ts';
import type { TortureContext } from './scenario.ts';
import { requireWhole, type Store } from './store.ts';

/** Services under load, whose store a scenario breaks and repairs. */
export interface UnderLoad {
  readonly store: Store;
  readonly key: string;
  readonly services: readonly ServiceProcess[];
  readonly load: Load;
  /** Resolves when no add has succeeded while `count` adds got 503 and reads went on. */
  untilRefused(count: number): Promise<void>;
  /** Resolves when each service has added an animal. Returns the time in milliseconds. */
  untilAdded(): Promise<number>;
  /**
   * Stops the load and the services. Throws if an answered add is missing, a log is long or an exit code is not 0.
   * Returns the names of the answered animals, by id.
   */
  finish(...more: readonly Load[]): Promise<ReadonlyMap<bigint, string>>;
}

/** Starts services under load, and resolves when they have added some animals. */
export async function startUnderLoad(
  context: TortureContext,
  store: Store,
  { count = 1, writers = 16, readers = 8 }: Partial<LoadOptions> & { readonly count?: number } = {},
): Promise<UnderLoad> {
  const { key } = await store.createKey();
  const services: ServiceProcess[] = [];
  while (services.length < count) services.push(await store.start());
  const load = startLoad(context, services, key, { writers, readers });
  await load.until('add 201', 50);

  return {
    store,
    key,
    services,
    load,
    async untilRefused(wanted) {
      await load.until('add 503', 1);
      load.begin();
      await load.until('add 503', wanted);
      await load.until('read 200', 100);
      if (load.count('add 201') > 0) throw new Error('an add was answered although nothing can be written');
    },
    async untilAdded() {
      const startedMs = performance.now();
      load.begin();
      await load.until('add 201', 1);
      return Math.round(performance.now() - startedMs);
    },
    async finish(...more) {
      const stopped = await Promise.all([load, ...more].map((each) => each.stop()));
      const answered = new Map(stopped.flatMap((names) => [...names]));
      for (const service of services) {
        requireFewLines(service.readLog());
        const { code, signal } = await service.end('SIGTERM');
        if (code !== 0) throw new Error(`a service ended with ${code ?? signal}: ${service.readLog()}`);
      }
      await requireKept(store, answered);
      await requireWhole(store);
      return answered;
    },
  };
}

/** Requires that the health check of each service succeeds. It does not depend on a store. */
export async function requireHealthy(services: readonly ServiceProcess[]): Promise<void> {
  for (const { opsUrl } of services) {
    const { status } = await fetch(`${opsUrl}/healthz`);
    if (status !== 200) throw new Error(`a service whose store is away answers /healthz with ${status}`);
  }
}
