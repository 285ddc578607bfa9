import { type Categories, createCategories } from './categories.ts';
import { createEvents, type Events } from './events.ts';
import { createOrders, type Orders } from './orders.ts';
import { createPets, type Pets } from './pets.ts';
import { type AnimalStoreOptions, readOptions } from './settings.ts';
import { createStore, type Store } from './store.ts';
import { createTransport } from './transport.ts';

/** A client of one Animal Store with one API key, which it holds where nothing prints it. */
export class AnimalStore {
  readonly pets: Pets;
  readonly categories: Categories;
  readonly orders: Orders;
  readonly store: Store;
  readonly events: Events;

  /** Throws `invalid_argument` for an option that breaks its rule; sends nothing. */
  constructor(options: AnimalStoreOptions) {
    const settings = readOptions(options);
    const send = createTransport(settings);
    this.pets = createPets(send);
    this.categories = createCategories(send);
    this.orders = createOrders(send);
    this.store = createStore(send);
    this.events = createEvents(send, settings.timeoutMs);
  }
}
