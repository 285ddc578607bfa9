import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { freeLimits, type Plan } from '../../src/plans/plan.ts';
import { openStore } from '../../src/store.ts';
import { findFreePort, type RunningServer, startServer } from '../processes.ts';
import { hotPage } from '../scenarios.ts';
import { ample, serviceEntry } from '../store.ts';
import { onNode } from '../subjects.ts';

/** The store and the extent of one round of a row. */
export interface Ground {
  readonly folder: string;
  /** A store for this round alone. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** A key whose limits no load reaches. */
  readonly key: string;
  /** The time of each load. */
  readonly seconds: number;
}

export interface RunningService extends RunningServer {
  /** The address of the operator's port. */
  readonly opsOrigin: string;
}

export interface ServiceOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

/** Runs a task while a service in production serves the store. */
export async function withService<T>(
  { folder, databaseUrl, key }: Ground,
  task: (service: RunningService) => Promise<T>,
  { settings = {}, nodeFlags = [] }: ServiceOptions = {},
): Promise<T> {
  const opsPort = String(await findFreePort());
  const fixed = { ENVIRONMENT: 'production', DATABASE_URL: databaseUrl, OPS_PORT: opsPort };
  const server = await startServer(
    (port) => ({
      ...onNode([...nodeFlags, serviceEntry, 'serve']),
      environment: { ...fixed, PORT: String(port), ...settings },
    }),
    hotPage,
    { authorization: `Bearer ${key}` },
    join(folder, `service-${opsPort}.log`),
  );
  try {
    return await task({ ...server, opsOrigin: `http://127.0.0.1:${opsPort}` });
  } finally {
    await server.stop();
  }
}

export const freePlan: Plan = { name: 'free', limits: freeLimits };
/** A plan with limits that no load reaches. */
export const amplePlan: Plan = {
  name: 'enterprise',
  limits: { perMinute: Number(ample), perDay: Number(ample) },
};

/** Makes keys, each of an account of its own. */
export async function issueKeys({ databaseUrl }: Ground, count: number, plan: Plan): Promise<string[]> {
  const store = await openStore({ databaseUrl, environment: 'production' }, systemClock);
  try {
    const keys: string[] = [];
    while (keys.length < count)
      keys.push((await store.keyring.issue({ account: null, plan, scopes: null, lifetimeMs: null })).key);
    return keys;
  } finally {
    await store.close();
  }
}
