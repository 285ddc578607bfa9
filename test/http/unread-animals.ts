import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { type Engine, sqliteEngine } from '../support/engines.ts';
import { createWarmKey } from '../support/lane.ts';
import { startService, type TestService } from '../support/service.ts';

/** A service with some animals of which none is ready, and a key that it remembers. */
export async function startWith(
  t: TestContext,
  engine: Engine = sqliteEngine,
  ...order: Parameters<TestService['createKey']>
) {
  let service: TestService | undefined;
  t.after(() => service?.stop());
  const { url } = await engine.createStore(t);
  service = await startService(t, { DATABASE_URL: url });
  await service.importPets(5);
  return { service, url, key: await createWarmKey(service, ...order) };
}

/** A connection in whose transaction nobody else may read the animals. */
export async function lockPets(url: string): Promise<Client> {
  const locking = new Client({ connectionString: url });
  await locking.connect();
  await locking.query('begin');
  await locking.query('lock table pets in access exclusive mode');
  return locking;
}
