import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { KeyOrder } from '../../src/accounts/keyring.ts';
import { startApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { petStatuses } from '../../src/pets/pet.ts';
import { type Limits, type PlanName, resolvePlan } from '../../src/plans/plan.ts';
import { openStore } from '../../src/store.ts';
import { importPets } from './catalogue.ts';
import { recordLog } from './recorded-log.ts';
import { createSqliteStore } from './sqlite-files.ts';

/** Runs callbacks at the end of a test, or at the end of a test file (`after` of node:test). */
export interface Ending {
  after(end: () => unknown): void;
}

/** Creates a clock that only the test moves. It starts at noon (UTC) of 2027-01-02 by default. */
export function createMovableClock(startMs = Date.UTC(2027, 0, 2, 12)) {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    /** Advances the clock. A negative number sets it back. */
    advance(ms: number): void {
      nowMs += ms;
    },
  };
}

/** Returns the path of the next page, relative to `/v1`, or null on the last page. */
export function nextOf({ headers }: Response): string | null {
  return /<\/v1([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null;
}

export async function makeFolder(test: Ending): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a service with a key, by default on enterprise. Stops the service after the test. */
export async function startWithKey(
  test: Ending,
  settings: Record<string, string> = {},
  ...keyOrder: Parameters<TestService['createKey']>
) {
  const service = await startService(test, settings);
  return { service, key: await service.createKey(...keyOrder) };
}

/** A service on free ports with a new store, and a clock that only the test moves. */
export type TestService = Awaited<ReturnType<typeof startService>>;

/** Starts a service. Stops it after the test. */
export async function startService(
  test: Ending,
  settings: Record<string, string> = {},
  clock = createMovableClock(),
) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const path = join(folder, 'animal-store.db');
  if (settings['DATABASE_URL'] === undefined) await createSqliteStore(path);
  const config = parseConfig({
    PORT: '0',
    OPS_PORT: '0',
    ENVIRONMENT: 'staging',
    LOG_LEVEL: 'trace',
    DATABASE_URL: `sqlite:${path}`,
    ...settings,
  });
  const { log, readLog, findLines } = recordLog(config.logLevel);
  const app = await startApp(config, clock.now, log);
  const store = await openStore(config, clock.now);
  const baseUrl = `${app.url}/v1`;
  const files: DatabaseSync[] = [];
  let isRunning = true;

  async function stop(): Promise<void> {
    if (!isRunning) return;
    isRunning = false;
    for (const file of files) file.close();
    await store.close();
    await app.close();
  }
  test.after(async () => {
    // The service stops before its folder is removed, because it writes its last counts into the store.
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Sends a request with a key, or without one. `path` begins with a slash and is relative to `/v1`. */
  function request(key: string | null, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (key !== null) headers.set('authorization', `Bearer ${key}`);
    return fetch(baseUrl + path, { ...init, headers });
  }

  /**
   * Sends a request to a `line`, such as `PATCH /pets/1`, with JSON if there is a body. A string is sent unchanged; any
   * other body is sent as JSON.
   */
  function send(
    key: string | null,
    line: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const [method = '', path = ''] = line.split(' ');
    if (body === undefined) return request(key, path, { method, headers });
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const typed = { 'content-type': 'application/json', ...headers };
    return request(key, path, { method, headers: typed, body: sent });
  }

  return {
    app,
    config,
    /** The base address, ending in `/v1`. */
    baseUrl,
    /** The same store through a separate connection, as another process would open it. */
    store,
    clock,
    readLog,
    findLines,
    request,
    /** Yields the pages of a list, from `path` to the last page. */
    async *walk(key: string, path: string): AsyncGenerator<Response> {
      for (let next: string | null = path; next !== null; ) {
        const page = await request(key, next);
        yield page;
        next = nextOf(page);
      }
    },
    stop,
    /** Creates a key on a new account, by default on enterprise with 1,000,000 requests a minute. */
    async createKey(
      plan: PlanName = 'enterprise',
      limits?: Limits,
      order: Partial<KeyOrder> = {},
    ): Promise<string> {
      const ample = { perMinute: 1_000_000, perDay: 10_000_000 };
      const resolved = resolvePlan(plan, plan === 'enterprise' ? (limits ?? ample) : {});
      if ('problem' in resolved) throw new Error(resolved.problem);
      const usual = { account: null, plan: resolved, scopes: null, lifetimeMs: null };
      return (await store.keyring.issue({ ...usual, ...order })).key;
    },
    send,
    /** Counts a request with a key, or without one. Returns the number of requests that are left. */
    async readLeft(key: string | null): Promise<number> {
      const { headers } = await request(key, '/nothing');
      return Number(headers.get('x-ratelimit-remaining'));
    },
    post: (key: string | null, body: unknown, headers?: Record<string, string>) =>
      send(key, 'POST /pets', body, headers),
    /** Waits until the window of a key has counted `count` requests, besides the requests of this function. */
    async untilCounted(key: string, count: number): Promise<void> {
      for (let asked = 0, used = -1; used < count + asked; ) {
        const { headers } = await request(key, '/nothing');
        asked += 1;
        used = Number(headers.get('x-ratelimit-limit')) - Number(headers.get('x-ratelimit-remaining'));
      }
    },
    /** Adds animals directly to the store: `n1` of category 1 and so on, with available, pending and sold in turn. */
    async importPets(count: number): Promise<void> {
      const toPet = (_: unknown, n: number) => ({
        name: `n${n + 1}`,
        categoryId: BigInt(n + 1),
        status: petStatuses[n % petStatuses.length] ?? 'available',
      });
      await importPets(store.database, Array.from({ length: count }, toPet));
    },
    /** Opens the file of the store as another program does. The file is closed when the service stops. */
    openFile(): DatabaseSync {
      const file = new DatabaseSync(config.databaseUrl.replace('sqlite:', ''), { timeout: 5_000 });
      files.push(file);
      return file;
    },
    async countPets(): Promise<number> {
      let count = 0;
      for await (const pets of store.catalogue.listAll()) count += pets.length;
      return count;
    },
  };
}
