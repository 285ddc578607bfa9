import { readCommand } from './command-line.ts';
import type { Engine, Store } from './engines.ts';
import { type ServiceProcess, serveInProcess, until } from './processes.ts';
import type { Ending } from './service.ts';

/** A key as `keys create --json` prints it. */
export interface MadeKey {
  readonly id: string;
  readonly key: string;
  readonly account: string;
}

interface InstancesOptions {
  readonly postgres: Engine;
  /** Default: the instances count without Redis. */
  readonly redisUrl?: string;
  readonly count?: number;
  /** Returns the DATABASE_URL of the instances, such as the address of a relay. Default: the address of the store. */
  readonly reach?: (store: Store) => Promise<string>;
  readonly preload?: string;
  readonly settings?: Record<string, string>;
}

/** Services that share a PostgreSQL and a Redis, as behind a load balancer. Each runs in its own process. */
export type Instances = Awaited<ReturnType<typeof startInstances>>;

/** Starts instances. After the test, they are killed and the database is dropped. */
export async function startInstances(test: Ending, options: InstancesOptions) {
  const { postgres, redisUrl = '', count = 3, reach = async ({ url }) => url, preload } = options;
  const store = await postgres.createStore(test);
  const base = { ENVIRONMENT: 'production', REDIS_URL: redisUrl };
  const settings = { ...base, ...options.settings, DATABASE_URL: await reach(store) };
  const start = () => serveInProcess(test, { settings, ...(preload !== undefined && { preload }) });
  const services = await Promise.all(Array.from({ length: count }, start));
  let turn = 0;

  /** Runs a command on a connection of its own and returns the parsed JSON output. */
  const command = <T>(...args: string[]) => readCommand<T>(args, store.url, { settings: base });

  return {
    services,
    store,
    /** The key that the first start in development makes. Empty elsewhere. */
    firstKey: services.find(({ key }) => key !== null)?.key ?? '',
    next: () => elementAt(services, turn++ % count),
    command,
    createKey: (...args: string[]) => command<MadeKey>('keys', 'create', ...args),
  };
}

/** Limits so high that only tests of the limits reach them. */
export const amplePlan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

/** Time in ms after which a request fails. */
const requestMsMax = 60_000;

/** Sends a request to one instance. `path` begins with a slash and is relative to `/v1`. */
export function ask({ url }: ServiceProcess, key: string, path = '/pets', init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${key}`);
  return fetch(url + path, { signal: AbortSignal.timeout(requestMsMax), ...init, headers });
}

/** Sends a JSON body to an endpoint of one instance, such as `POST /pets`. */
export function send(service: ServiceProcess, key: string, endpoint: string, body: object = {}, more = {}) {
  const [method = '', path] = endpoint.split(' ');
  const headers = { 'content-type': 'application/json', ...more };
  return ask(service, key, path, { method, headers, body: JSON.stringify(body) });
}

export function add(service: ServiceProcess, key: string, name: string, idempotencyKey?: string) {
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  return send(service, key, 'POST /pets', { name, categoryId: 1 }, headers);
}

/** Resolves when an instance gives the expected answer. Rejects after about `withinMs`. */
export async function untilAnswered(
  service: ServiceProcess,
  key: string,
  isRight: (response: Response) => boolean,
  withinMs: number,
): Promise<void> {
  const askFor = async () => {
    const response = await ask(service, key);
    await response.text();
    return response;
  };
  await until(askFor, isRight, withinMs);
}

export async function readJson<T>(response: Response | Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

export async function readMetric({ opsUrl }: { readonly opsUrl: string }, name: string): Promise<number> {
  const shown = await (await fetch(`${opsUrl}/metrics`)).text();
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(shown) ?? [];
  if (value === undefined) throw new Error(`there is no metric ${name}`);
  return Number(value);
}

/** Resolves when exactly `count` requests to a service wait for an event. */
export async function untilWaiting(service: { readonly opsUrl: string }, count: number): Promise<void> {
  while ((await readMetric(service, 'animal_store_event_waits')) !== count);
}

/** Returns the item at an index. Throws if there is none. */
export function elementAt<T>(list: readonly T[], place: number): T {
  const element = list[place];
  if (element === undefined) throw new Error(`the list has no item at ${place}`);
  return element;
}
