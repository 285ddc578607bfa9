export type {
  Categories,
  CategoriesListAllOptions,
  CategoriesListOptions,
  CategoryAnswer,
} from './categories.ts';
export { AnimalStore } from './client.ts';
export type { Deprecation } from './deprecation.ts';
export { AnimalStoreError, type ClientErrorCode } from './errors.ts';
export type { EventPage, Events, EventsListOptions, FollowOptions, StoreEvent } from './events.ts';
export { parseExactJson, stringifyExactJson } from './exact-json.ts';
export type {
  Category,
  CategoryEvent,
  ErrorCode,
  NewCategory,
  NewOrder,
  NewPet,
  Order,
  OrderEvent,
  OrderStatus,
  Pet,
  PetEvent,
  PetPatch,
  PetStatus,
} from './generated.ts';
export type { OperationName } from './operations.ts';
export type { OrderAnswer, Orders, OrdersListAllOptions, OrdersListOptions } from './orders.ts';
export type { Page } from './page.ts';
export type { ChangeOptions, CreateOptions, ListAllOptions, ListOptions, PetAnswer, Pets } from './pets.ts';
export type { RateLimit, ResponseInfo } from './response-info.ts';
export type { Retry } from './retry.ts';
export type { AnimalStoreOptions, Fetch } from './settings.ts';
export type { Inventory, InventoryAnswer, InventoryOptions, Store } from './store.ts';
export type { CallOptions } from './transport.ts';
