import { type Categories, createCategories } from './categories.ts';
import { createEvents, type Events } from './events.ts';
import type { Account, GetInventoryQuery, Inventory } from './generated.ts';
import { createKeys, type Keys } from './keys.ts';
import { createCallOperation, type WithResponse } from './operation-call.ts';
import { createOrders, type Orders } from './orders.ts';
import { createPets, type Pets } from './pets.ts';
import { createRequest, type SendRequest } from './request.ts';
import { createRequests, type Requests } from './requests.ts';
import { type AnimalStoreOptions, readOptions } from './settings.ts';
import { type CallOptions, createTransport } from './transport.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export type AccountAnswer = WithResponse<Account>;

export type InventoryAnswer = WithResponse<Inventory>;

export interface InventoryOptions extends GetInventoryQuery, CallOptions {}

/** The inventory of the store. A method that fails rejects with AnimalStoreError. */
export interface Store {
  /** Returns the number of available, pending and sold animals. */
  inventory(options?: InventoryOptions): Promise<InventoryAnswer>;
}

/** A client for one Animal Store with one API key. Logging the client does not show the key. */
export class AnimalStore {
  readonly pets: Pets;
  readonly categories: Categories;
  readonly orders: Orders;
  readonly store: Store;
  readonly events: Events;
  readonly keys: Keys;
  /** The requests of the account that failed or took over a second. */
  readonly requests: Requests;
  /** Returns the account of the API key with its plan, its remaining requests and its open holds. */
  readonly account: (options?: CallOptions) => Promise<AccountAnswer>;
  /** Sends a request to any path of the service. */
  readonly request: SendRequest;
  readonly webhooks: Webhooks;

  /** Throws `invalid_argument` if an option is invalid. Sends no request. */
  constructor(options?: AnimalStoreOptions) {
    const settings = readOptions(options);
    const send = createTransport(settings);
    const call = createCallOperation(send);
    this.pets = createPets(call, send);
    this.categories = createCategories(call, send);
    this.orders = createOrders(call, send);
    this.store = { inventory: (own) => call('getInventory', {}, own) };
    this.events = createEvents(call, send, settings.timeoutMs);
    this.keys = createKeys(call, send);
    this.requests = createRequests(send);
    this.account = (own) => call('getAccount', {}, own);
    this.request = createRequest(send);
    this.webhooks = createWebhooks(call, send);
  }
}
