import { type AccountAnswer, createGetAccount } from './account.ts';
import { type Categories, createCategories } from './categories.ts';
import { createEvents, type Events } from './events.ts';
import { createKeys, type Keys } from './keys.ts';
import { createOrders, type Orders } from './orders.ts';
import { createPets, type Pets } from './pets.ts';
import { createRequest, type SendRequest } from './request.ts';
import { type AnimalStoreOptions, readOptions } from './settings.ts';
import { createStore, type Store } from './store.ts';
import { type CallOptions, createTransport } from './transport.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

/** A client for one Animal Store with one API key. Logging the client does not show the key. */
export class AnimalStore {
  readonly pets: Pets;
  readonly categories: Categories;
  readonly orders: Orders;
  readonly store: Store;
  readonly events: Events;
  readonly keys: Keys;
  /** Returns the account of the API key with its plan, its remaining requests and its open holds. */
  readonly account: (options?: CallOptions) => Promise<AccountAnswer>;
  /** Sends a request to any path of the service. */
  readonly request: SendRequest;
  readonly webhooks: Webhooks;

  /** Throws `invalid_argument` if an option is invalid. Sends no request. */
  constructor(options?: AnimalStoreOptions) {
    const settings = readOptions(options);
    const send = createTransport(settings);
    this.pets = createPets(send);
    this.categories = createCategories(send);
    this.orders = createOrders(send);
    this.store = createStore(send);
    this.events = createEvents(send, settings.timeoutMs);
    this.keys = createKeys(send);
    this.account = createGetAccount(send);
    this.request = createRequest(send);
    this.webhooks = createWebhooks(send);
  }
}
