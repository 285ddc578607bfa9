export type { AccountAnswer } from './account.ts';
export type { Answer } from './answer.ts';
export type {
  Categories,
  CategoriesListAllOptions,
  CategoriesListOptions,
  CategoryAnswer,
} from './categories.ts';
export { AnimalStore } from './client.ts';
export type { Attempt } from './debug.ts';
export type { Deprecation } from './deprecation.ts';
export {
  AnimalStoreError,
  ArgumentError,
  AuthenticationError,
  type ClientErrorCode,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServiceError,
} from './errors.ts';
export type { EventPage, Events, EventsListOptions, FollowOptions, StoreEvent } from './events.ts';
export { parseExactJson, stringifyExactJson } from './exact-json.ts';
export type {
  Account,
  ApiKey,
  ApiKeyRotation,
  CallingKey,
  Category,
  CategoryEvent,
  ErrorCode,
  EventType,
  IssuedApiKey,
  LastAttempt,
  LimitWindow,
  NewApiKey,
  NewCategory,
  NewOrder,
  NewPet,
  NewWebhook,
  Order,
  OrderEvent,
  OrderStatus,
  Pet,
  PetEvent,
  PetPatch,
  PetStatus,
  PlanName,
  Scope,
  Webhook,
  WebhookPatch,
  WebhookWithSecret,
} from './generated.ts';
export type { IssuedApiKeyAnswer, Keys, KeysListAllOptions, KeysListOptions } from './keys.ts';
export type { OperationName } from './operations.ts';
export type { OrderAnswer, Orders, OrdersListAllOptions, OrdersListOptions } from './orders.ts';
export type { Page } from './page.ts';
export type { ChangeOptions, CreateOptions, ListAllOptions, ListOptions, PetAnswer, Pets } from './pets.ts';
export type { RequestMethod, RequestOptions, SendRequest } from './request.ts';
export type { RateLimit, ResponseInfo } from './response-info.ts';
export type { Retry } from './retry.ts';
export type { AnimalStoreOptions, Fetch } from './settings.ts';
export type { Inventory, InventoryAnswer, InventoryOptions, Store } from './store.ts';
export type { CallOptions } from './transport.ts';
export { type PingEvent, verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';
export type {
  SecretWebhookAnswer,
  WebhookAnswer,
  Webhooks,
  WebhooksListAllOptions,
  WebhooksListOptions,
} from './webhooks.ts';
