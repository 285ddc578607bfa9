import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { scopes } from '../../src/accounts/account.ts';
import { createKeyVerifier } from '../../src/accounts/key-verifier.ts';
import { createKeyring } from '../../src/accounts/keyring.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import { createCursors } from '../../src/http/request/cursor.ts';
import { buildServer, type ServerOptions } from '../../src/http/server.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import type { Database } from '../../src/storage/database.ts';
import { openStore } from '../../src/store.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { createMovableClock, type Ending, makeFolder } from '../support/service.ts';

/** Only the public server, by default over a new SQLite store, with a valid and cached key with all scopes, on Business. */
export type BuiltServer = Awaited<ReturnType<typeof startBuiltServer>>;

/** Builds and starts a server with `options`, over wrapped parts. Stops it after the test. */
export async function startBuiltServer(
  test: Ending,
  options: Partial<ServerOptions> = {},
  wrap: (catalogue: Catalogue) => Catalogue = (catalogue) => catalogue,
  wrapDatabase: (database: Database) => Database = (database) => database,
  url?: string,
) {
  const clock = createMovableClock().now;
  const databaseUrl = url ?? `sqlite:${join(await makeFolder(test), 'animal-store.db')}`;
  const store = await openStore({ databaseUrl, environment: 'staging' }, clock, { wrap: wrapDatabase });
  const { key } = await store.keyring.issue({
    account: null,
    plan: { name: 'business', limits: { perMinute: 1_000, perDay: 100_000 } },
    scopes,
    lifetimeMs: null,
  });
  const verifier = createKeyVerifier(store.database, clock);
  const eventIds = createEventIds(Buffer.alloc(32));
  await verifier.verifyAgain(key);
  const server = buildServer({
    services: {
      ...store.services,
      catalogue: wrap(store.catalogue),
      keyringOf: ({ keyId: name, accountId }) =>
        createKeyring(store.database, clock, 'stg', { kind: 'key', name }, verifier, accountId),
      cursors: createCursors(Buffer.alloc(32)),
      eventIds,
      webhooks: createWebhooks(store.database, eventIds, createSecretBox([])),
      allowsHttp: false,
      clock,
    },
    version: store.version,
    verifier,
    failedRequests: { note: () => undefined },
    limiter: createLimiter({ counters: createMemoryCounters(), clock }),
    environment: 'staging',
    otherEnvironmentUrl: null,
    webhookSourceNetworks: [],
    log: createLog('silent', new PassThrough()),
    publicUrl: null,
    trustProxy: false,
    corsOrigins: [],
    readLogRequests: () => 'errors',
    ...options,
  });
  test.after(async () => {
    await server.close(0);
    await store.close();
  });
  return { baseUrl: `${await server.listen('127.0.0.1', 0)}/v1`, key, store };
}
