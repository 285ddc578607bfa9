import { findPostgres, type Store } from '../../test/support/engines.ts';
import { amplePlan, type MadeKey } from '../../test/support/instances.ts';
import { runProgram, type ServiceProcess, serveInProcess } from '../../test/support/processes.ts';
import type { Random } from '../random.ts';
import { Skipped, type TortureContext } from '../scenario.ts';

/** What an instance answered. */
export interface FleetAnswer {
  readonly status: number;
  readonly body: string;
  /** Where the next page is, relative to the base address. */
  readonly next: string | null;
}

/** Three instances over one PostgreSQL, of which any may be killed at any time. */
export interface Fleet {
  readonly store: Store;
  /** Asks the next instance in turn; null where it gave no answer. */
  ask(path: string, init?: RequestInit): Promise<FleetAnswer | null>;
  /** Kills one of them and starts another in its place. */
  killOne(): Promise<void>;
  end(): Promise<void>;
}

const instances = 3;

/** Starts them on an empty store, with a key of all scopes. */
export async function startFleet(context: TortureContext, random: Random): Promise<Fleet> {
  const postgres = await findPostgres();
  if (postgres.skip !== false) throw new Skipped(postgres.skip);
  const store = await postgres.createStore(context);
  const settings = { ENVIRONMENT: 'production', DATABASE_URL: store.url };
  const start = () => serveInProcess(context, { settings });
  const services: ServiceProcess[] = [await start()];
  while (services.length < instances) services.push(await start());
  const made = await runProgram(['keys', 'create', ...amplePlan, '--scopes', 'all', '--json'], { settings });
  const { key } = JSON.parse(made.stdout) as MadeKey;
  let turn = 0;

  return {
    store,

    async ask(path, init = {}) {
      const service = services[turn++ % instances];
      try {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const response = await fetch(`${service?.url}${path}`, { ...init, headers });
        const [, next = null] = /^<\/v1([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
        return { status: response.status, body: await response.text(), next };
      } catch {
        return null;
      }
    },

    async killOne() {
      const place = random.between(0, instances - 1);
      await services[place]?.end('SIGKILL');
      services[place] = await start();
    },

    async end() {
      await Promise.all(services.map((service) => service.end('SIGKILL')));
    },
  };
}
