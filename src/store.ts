import { countOpenHolds } from './accounts/accounts.ts';
import { keyEnvironmentOf } from './accounts/api-key.ts';
import { type Audit, commandActor, createAudit } from './audit/audit-log.ts';
import { type Categories, createCategories } from './categories/categories.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { createFeed, type Feed } from './events/feed.ts';
import { createFirstAnswers, type FirstAnswers } from './idempotency/answer-once.ts';
import { type CountInventory, createInventory } from './inventory/inventory.ts';
import { type ChangeAs, type Changes, prepareChanges } from './operator/changes.ts';
import { createOrders, type Orders } from './orders/orders.ts';
import { type Catalogue, createCatalogue } from './pets/catalogue.ts';
import { createVersion, noteWrites, type Version } from './storage/content-version.ts';
import type { Database } from './storage/database.ts';
import { openDatabase } from './storage/open-database.ts';

/**
 * Everything that uses a store but needs no server. The service and the command line use it. Its own changes are those
 * of the user of this process.
 */
export interface Store extends Changes {
  readonly database: Database;
  readonly catalogue: Catalogue;
  readonly version: Version;
  readonly countInventory: CountInventory;
  readonly orders: Orders;
  readonly categories: Categories;
  readonly feed: Feed;
  readonly firstAnswers: FirstAnswers;
  readonly changeAs: ChangeAs;
  readonly audit: Audit;
  /** Returns the number of open holds of an account. */
  readonly countOpenHolds: (accountId: bigint) => Promise<bigint>;
  close(): Promise<void>;
}

/**
 * Opens the store of a configuration and migrates it to the newest schema. `wrap` wraps the database, for example to
 * measure its calls. Throws OperatorError if the store cannot be opened, and without `mayMigrate` also if it
 * does not exist or has the schema of an older release.
 */
export async function openStore(
  config: Pick<Config, 'databaseUrl' | 'environment'>,
  clock: Clock,
  wrap: (database: Database) => Database = (database) => database,
  mayMigrate = true,
): Promise<Store> {
  const opened = wrap(await openDatabase(config.databaseUrl, undefined, mayMigrate));
  const version = createVersion(opened);
  const database = noteWrites(opened, version.forget);
  const firstAnswers = createFirstAnswers(database);
  const catalogue = createCatalogue(database, firstAnswers);
  const changeAs = prepareChanges(database, clock, keyEnvironmentOf[config.environment]);
  return {
    database,
    version,
    feed: createFeed(database, clock),
    firstAnswers,
    catalogue,
    countInventory: createInventory(database),
    orders: createOrders(database, firstAnswers),
    categories: createCategories(database, clock),
    changeAs,
    ...changeAs(commandActor()),
    audit: createAudit(database, clock),
    countOpenHolds: (accountId) => countOpenHolds(database, accountId),
    close: () => database.close(),
  };
}
