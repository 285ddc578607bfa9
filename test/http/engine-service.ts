import type { TestContext } from 'node:test';
import type { Client } from 'pg';
import type { Engine } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { startService, type TestService } from '../support/service.ts';

/** Starts a service over a new store of an engine, with a key and five animals. Stops it before the store is dropped. */
export async function startOn(t: TestContext, engine: Engine, fill = fillWithFive) {
  let service: TestService | undefined;
  t.after(() => service?.stop());
  const { url } = await engine.createStore(t);
  service = await startService(t, { DATABASE_URL: url });
  await fill(service);
  const key = await service.createKey();
  return { service, url, key, headers: { authorization: `Bearer ${key}`, connection: 'keep-alive' } };
}

const fillWithFive = (service: TestService) => service.importPets(5);

/** Opens a connection to PostgreSQL with a transaction that blocks all other reads of animals. */
export async function lockPets(t: TestContext, url: string): Promise<Client> {
  const locking = await connectPostgres(t, url);
  await locking.query('begin');
  await locking.query('lock table pets in access exclusive mode');
  return locking;
}
