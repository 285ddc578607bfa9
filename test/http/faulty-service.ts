import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createKeyVerifier } from '../../src/accounts/key-verifier.ts';
import { createCursors } from '../../src/http/request/cursor.ts';
import { buildServer } from '../../src/http/server.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import type { Pet } from '../../src/pets/pet.ts';
import { openStore, type Store } from '../../src/store.ts';
import { type Ending, makeFolder } from '../support/service.ts';

/** A service with a fault, which is impatient with its clients. */
export interface FaultyService {
  readonly baseUrl: string;
  /** Valid, and remembered. */
  readonly key: string;
  readonly store: Store;
}

/** What is wrong with it: its store has gone, or what it gives for an added animal is none that could be written. */
export type Fault = 'store gone' | 'answer unwritable';

export async function startFaultyService(test: Ending, fault: Fault = 'store gone'): Promise<FaultyService> {
  const clock = () => Date.UTC(2027, 0, 2, 12);
  const databaseUrl = `sqlite:${join(await makeFolder(test), 'animal-store.db')}`;
  const store = await openStore({ databaseUrl, environment: 'staging' }, clock);
  const { key } = await store.keyring.issue({
    account: null,
    plan: { name: 'business', limits: { perMinute: 1_000, perDay: 100_000 } },
    scopes: null,
    lifetimeMs: null,
  });
  const verifier = createKeyVerifier(store.database, clock);
  await verifier.verify(key);
  const end = () => store.close();
  if (fault === 'store gone') await end();
  else test.after(end);

  const server = buildServer({
    catalogue: fault === 'answer unwritable' ? giveNothing(store.catalogue) : store.catalogue,
    verifier,
    limiter: createLimiter({ counters: createMemoryCounters(), clock }),
    cursors: createCursors(Buffer.alloc(32)),
    clock,
    log: createLog('silent', new PassThrough()),
    publicUrl: null,
    trustProxy: false,
    corsOrigins: [],
    logRequests: 'errors',
    timeouts: { headersMs: 100, requestMs: 200, keepAliveMs: 1_000, untakenMs: 1_000 },
  });
  test.after(() => server.close(0));
  return { baseUrl: `${await server.listen('127.0.0.1', 0)}/v1`, key, store };
}

function giveNothing(catalogue: Catalogue): Catalogue {
  return {
    ...catalogue,
    add: async (...wanted) => ({ ...(await catalogue.add(...wanted)), pet: {} as Pet }),
  };
}
