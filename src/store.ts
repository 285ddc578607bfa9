import { setTimeout as sleep } from 'node:timers/promises';
import { countOpenHolds } from './accounts/accounts.ts';
import { describeForeignKeys, foreignKeysMax, keyEnvironmentOf } from './accounts/api-key.ts';
import { selectAnyKey } from './accounts/key-rows.ts';
import { type Actor, commandActor, createAudit } from './audit/audit-log.ts';
import { createCategories } from './categories/categories.ts';
import { type Clock, secondMs } from './clock.ts';
import type { Config } from './config.ts';
import { createFeed } from './events/feed.ts';
import { createFirstAnswers } from './idempotency/answer-once.ts';
import { createInventory } from './inventory/inventory.ts';
import type { Log } from './observability/log.ts';
import { prepareChanges } from './operator/changes.ts';
import { createOrders } from './orders/orders.ts';
import { createCatalogue } from './pets/catalogue.ts';
import { createVersion } from './storage/content-version.ts';
import type { Database } from './storage/database.ts';
import { noteRestore } from './storage/note-restore.ts';
import { openDatabase } from './storage/open-database.ts';
import { claimServing } from './storage/sqlite/claim-serving.ts';
import type { WriterPlace } from './storage/sqlite/writer.ts';
import { requireExisting } from './storage/stored-migrations.ts';
import { createOwnRequests } from './usage/own-requests.ts';
import { createSecretBox } from './webhooks/secret-box.ts';

/** Everything that uses a store but needs no server. Its own changes are those of the user of this process. */
export type Store = Awaited<ReturnType<typeof openStore>>;

interface StoreOptions {
  /** Wraps the database, to measure its calls. */
  readonly wrap?: (database: Database) => Database;
  /** Default: true. */
  readonly mayMigrate?: boolean;
  /** Default: a thread of its own. */
  readonly writer?: WriterPlace;
  /** Who makes the changes. Default: the user of this process. */
  readonly actor?: Actor;
}

type RoomSettings = Pick<Config, 'environment'> & Partial<Pick<Config, 'webhookSecretKeys'>>;

/** Opens the store of a configuration as `openDatabase` does. */
export async function openStore(
  config: RoomSettings & Pick<Config, 'databaseUrl'> & Partial<Pick<Config, 'databaseConnections'>>,
  clock: Clock,
  { wrap = (database) => database, mayMigrate = true, writer, actor = commandActor() }: StoreOptions = {},
) {
  const database = wrap(
    await openDatabase(config.databaseUrl, writer, mayMigrate, config.databaseConnections),
  );
  const rooms = openRooms(database, clock, config, actor);
  const { catalogue, countInventory, orders, categories } = rooms;
  /** What the operations of the public port use of the store. */
  const services = {
    catalogue,
    countInventory,
    orders,
    categories,
    feed: createFeed(database, clock),
    countOpenHolds: (accountId: bigint) => countOpenHolds(database, accountId),
    listOwnRequests: createOwnRequests(database, clock),
  };
  return {
    ...rooms,
    services,
    /** The same for the console: its reads may take seconds, and hold up no request. */
    aside: openRooms({ ...database, read: database.readAside, readNow: null }, clock, config, actor),
    version: createVersion(database),
    close: () => database.close(),
  };
}

function openRooms(
  database: Database,
  clock: Clock,
  { environment, webhookSecretKeys = [] }: RoomSettings,
  actor: Actor,
) {
  const firstAnswers = createFirstAnswers(database);
  const changeAs = prepareChanges(
    database,
    clock,
    keyEnvironmentOf[environment],
    createSecretBox(webhookSecretKeys),
  );
  return {
    database,
    firstAnswers,
    catalogue: createCatalogue(database, firstAnswers),
    countInventory: createInventory(database),
    orders: createOrders(database, firstAnswers),
    categories: createCategories(database, clock),
    changeAs,
    ...changeAs(actor),
    audit: createAudit(database, clock, actor),
  };
}

/** Time in ms that the store may take to close. If the disk hangs longer, the store closes when the process ends. */
const storeCloseMsMax = secondMs / 2;

/** Opens the store that this process serves, and claims it, until `parts` is disposed of. Logs warnings about its keys. */
export async function openServedStore(
  config: Config,
  clock: Clock,
  log: Log,
  wrap: (database: Database) => Database,
  parts: AsyncDisposableStack,
): Promise<Store> {
  if (config.requireStore) await requireExisting(config.databaseUrl);
  // The claim comes before the store is opened, because opening a file under a second name can already overwrite pages.
  parts.defer(await claimServing(config.databaseUrl));
  const store = await openStore(config, clock, { wrap });
  parts.defer(() => Promise.race([store.close(), sleep(storeCloseMsMax, undefined, { ref: false })]));
  await warnOfKeys(store, config, log);
  await warnOfRestore(store, log);
  return store;
}

/** Before this, nothing may be sent to a webhook: on PostgreSQL, it notices a restore and puts the webhooks on hold. */
async function warnOfRestore({ database, allWebhooks }: Store, log: Log): Promise<void> {
  await noteRestore(database);
  const webhooks = (await allWebhooks.readLag()).disabled.restored;
  if (webhooks > 0)
    log.warn({ webhooks }, 'webhooks are on hold, because the store was restored: "webhooks resume --all"');
}

/** Keys of other environments come from a copied store, and do not work here. Only in development a first key is made. */
async function warnOfKeys({ keyring, database }: Store, { environment }: Config, log: Log): Promise<void> {
  const foreign = await keyring.listForeign(foreignKeysMax + 1);
  if (foreign.length > 0) {
    const keyIds = foreign.slice(0, foreignKeysMax);
    const andMore = foreign.length > foreignKeysMax;
    log.warn({ keyIds, andMore }, describeForeignKeys(foreign, environment));
  }
  if (environment === 'development' || (await database.read(selectAnyKey, { count: 1n })).length > 0) return;
  log.warn('the store has no keys: "animal-store keys create --plan free --account NAME" creates one');
}
