import { readCommand } from '../../test/support/command-line.ts';
import { findPostgres, type Store } from '../../test/support/engines.ts';
import { amplePlan, type MadeKey, readMetric } from '../../test/support/instances.ts';
import { type ServiceProcess, serveInProcess } from '../../test/support/processes.ts';
import type { Random } from '../random.ts';
import { Skipped, type TortureContext } from '../scenario.ts';

/** The answer of an instance. */
export interface FleetAnswer {
  readonly status: number;
  readonly body: string;
  /** The address of the next page, relative to the base address. Null if there is no next page. */
  readonly next: string | null;
}

type FleetStore = Pick<Store, 'url' | 'execute'>;

/** Three instances over one PostgreSQL. Any of them may be killed at any time. */
export interface Fleet {
  readonly store: FleetStore;
  readonly services: readonly ServiceProcess[];
  readonly key: string;
  /** The base address of each running instance. */
  urls(): readonly string[];
  /** Sends a request to the next instance in turn. Null if it gave no answer. */
  ask(path: string, init?: RequestInit): Promise<FleetAnswer | null>;
  /** The sum of a metric over all instances. */
  sumMetric(name: string): Promise<number>;
  /** Kills a random instance with SIGKILL. */
  kill(): Promise<void>;
  /** Replaces the killed instance by a new one. */
  replace(): Promise<void>;
  end(): Promise<void>;
}

const instances = 3;

/** Creates an empty store on the PostgreSQL of the tests. */
async function createStore(context: TortureContext): Promise<FleetStore> {
  const postgres = await findPostgres();
  if (postgres.skip !== false) throw new Skipped(postgres.skip);
  return postgres.createStore(context);
}

/** Starts the instances on a store, by default an empty one, with a key that has all scopes. */
export async function startFleet(
  context: TortureContext,
  random: Random,
  extra: Readonly<Record<string, string>> = {},
  given?: FleetStore,
): Promise<Fleet> {
  const store = given ?? (await createStore(context));
  const settings = { ENVIRONMENT: 'production', DATABASE_URL: store.url, ...extra };
  const start = () => serveInProcess(context, { settings });
  const services: ServiceProcess[] = [await start()];
  while (services.length < instances) services.push(await start());
  const create = ['keys', 'create', ...amplePlan, '--scopes', 'all'];
  const { key } = await readCommand<MadeKey>(create, store.url, { settings });
  let turn = 0;
  let killed = 0;

  return {
    store,
    services,
    key,
    urls: () =>
      services
        .filter(({ child }) => child.exitCode === null && child.signalCode === null)
        .map(({ url }) => url),

    async ask(path, init = {}) {
      const service = services[turn++ % instances];
      try {
        const headers = {
          ...init.headers,
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
        };
        const response = await fetch(`${service?.url}${path}`, { ...init, headers });
        const [, next = null] = /^<\/v1([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
        return { status: response.status, body: await response.text(), next };
      } catch {
        return null;
      }
    },

    async sumMetric(name) {
      const values = await Promise.all(services.map((service) => readMetric(service, name)));
      return values.reduce((sum, value) => sum + value, 0);
    },

    async kill() {
      killed = random.between(0, instances - 1);
      await services[killed]?.end('SIGKILL');
    },

    async replace() {
      services[killed] = await start();
    },

    async end() {
      await Promise.all(services.map((service) => service.end('SIGKILL')));
    },
  };
}
