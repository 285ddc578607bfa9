export type { Answer } from './answer.ts';
export type {
  Categories,
  CategoriesListAllOptions,
  CategoriesListOptions,
  CategoryAnswer,
} from './categories.ts';
export {
  type AccountAnswer,
  AnimalStore,
  type InventoryAnswer,
  type InventoryOptions,
  type Store,
} from './client.ts';
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
export type { EventPage, Events, EventsListOptions, FollowOptions } from './events.ts';
export { parseExactJson, stringifyExactJson } from './exact-json.ts';
export type * from './generated.ts';
export type { IssuedApiKeyAnswer, Keys, KeysListAllOptions, KeysListOptions } from './keys.ts';
export type { ChangeOptions, CreateOptions, WithResponse } from './operation-call.ts';
export type { OrderAnswer, Orders, OrdersListAllOptions, OrdersListOptions } from './orders.ts';
export type { Page } from './page.ts';
export type { ListAllOptions, ListOptions, PetAnswer, Pets } from './pets.ts';
export type { RequestMethod, RequestOptions, SendRequest } from './request.ts';
export type { Requests, RequestsListAllOptions, RequestsListOptions } from './requests.ts';
export type { RateLimit, ResponseInfo } from './response-info.ts';
export type { Retry } from './retry.ts';
export type { AnimalStoreOptions, Fetch } from './settings.ts';
export { type SignedHeaders, type SignOptions, signWebhook } from './sign-webhook.ts';
export type { CallOptions } from './transport.ts';
export { verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';
export type {
  SecretWebhookAnswer,
  WebhookAnswer,
  Webhooks,
  WebhooksListAllOptions,
  WebhooksListOptions,
} from './webhooks.ts';
