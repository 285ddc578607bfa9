import { type Accounts, createAccounts } from './accounts/accounts.ts';
import { keyEnvironmentOf } from './accounts/api-key.ts';
import { createKeyring, type Keyring } from './accounts/keyring.ts';
import { type Categories, createCategories } from './categories/categories.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { createFeed, type Feed } from './events/feed.ts';
import { createTail, type Tail } from './events/tail.ts';
import { createFirstAnswers, type FirstAnswers } from './idempotency/first-answers.ts';
import { type CountInventory, createInventory } from './inventory/inventory.ts';
import { createOrders, type Orders } from './orders/orders.ts';
import { type Catalogue, createCatalogue } from './pets/catalogue.ts';
import type { Database } from './storage/database.ts';
import { openDatabase } from './storage/open-database.ts';

/** What works on the store without serving: for the command line. */
export interface Store {
  readonly database: Database;
  readonly catalogue: Catalogue;
  readonly countInventory: CountInventory;
  readonly orders: Orders;
  readonly categories: Categories;
  readonly feed: Feed;
  readonly tail: Tail;
  readonly firstAnswers: FirstAnswers;
  readonly keyring: Keyring;
  readonly accounts: Accounts;
  close(): Promise<void>;
}

/** Opens the store of a configuration, brought to the newest schema. Throws OperatorError where it cannot be opened. */
export async function openStore(
  config: Pick<Config, 'databaseUrl' | 'environment'>,
  clock: Clock,
  wrap: (database: Database) => Database = (database) => database,
): Promise<Store> {
  const database = wrap(await openDatabase(config.databaseUrl));
  const firstAnswers = createFirstAnswers(database, clock);
  const catalogue = createCatalogue(database, firstAnswers);
  const tail = createTail(database, clock);
  return {
    database,
    tail,
    feed: createFeed(database, tail),
    firstAnswers,
    catalogue,
    countInventory: createInventory(database),
    orders: createOrders(database, firstAnswers, catalogue.stamps.forget),
    categories: createCategories(database),
    keyring: createKeyring(database, clock, keyEnvironmentOf[config.environment]),
    accounts: createAccounts(database),
    close: () => database.close(),
  };
}
