import type {
  EventToSend,
  ListWebhooksQuery,
  NewWebhook,
  Ping,
  Webhook,
  WebhookAttempt,
  WebhookPatch,
  WebhookWithSecret,
} from './generated.ts';
import type { CallOperation, WithResponse } from './operation-call.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export type WebhookAnswer = WithResponse<Webhook>;

/** A webhook with a new secret. The secret is shown only once. */
export type SecretWebhookAnswer = WithResponse<WebhookWithSecret>;

export interface WebhooksListOptions extends ListWebhooksQuery, CallOptions {}

export interface WebhooksListAllOptions extends Omit<WebhooksListOptions, 'cursor'> {}

/**
 * The webhooks of the account. All methods need `webhooks:manage`. A method that fails rejects with AnimalStoreError.
 */
export interface Webhooks {
  /** Returns one page, newest webhooks first. The default `limit` is 20. */
  list(options?: WebhooksListOptions): Promise<Page<Webhook>>;
  /** Yields all webhooks. Requests one page after the other. */
  listAll(options?: WebhooksListAllOptions): AsyncGenerator<Webhook, void, undefined>;
  /**
   * Creates a webhook and returns its secret. The call is not retried if the response is lost. In that case, use `list`
   * to see whether the webhook exists.
   */
  create(webhook: NewWebhook, options?: CallOptions): Promise<SecretWebhookAnswer>;
  get(webhookId: string, options?: CallOptions): Promise<WebhookAnswer>;
  /** Changes the fields in `patch`. To receive events again, set `after` to the position before them. */
  update(webhookId: string, patch: WebhookPatch, options?: CallOptions): Promise<WebhookAnswer>;
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /** Creates a new secret. For 24 hours, the service also signs requests with the old secret. */
  rotateSecret(webhookId: string, options?: CallOptions): Promise<SecretWebhookAnswer>;
  /** Sends a `webhook.ping` event and returns the id of the event. */
  ping(webhookId: string, options?: CallOptions): Promise<WithResponse<Ping>>;
  /** Sends one event once more, beside the feed. */
  sendEvent(webhookId: string, event: EventToSend, options?: CallOptions): Promise<WithResponse<EventToSend>>;
  /** Returns the last 100 attempts of the last 7 days, newest first. */
  listAttempts(webhookId: string, options?: CallOptions): Promise<WithResponse<readonly WebhookAttempt[]>>;
}

export function createWebhooks(call: CallOperation, send: Transport): Webhooks {
  return {
    ...createLists<'listWebhooks', WebhooksListOptions>(send, 'listWebhooks'),
    create: (webhook, options) => call('createWebhook', { body: webhook }, options),
    get: (webhookId, options) => call('getWebhook', { id: webhookId }, options),
    update: (webhookId, patch, options) => call('updateWebhook', { id: webhookId, body: patch }, options),
    delete: (webhookId, options) => call('deleteWebhook', { id: webhookId }, options),
    rotateSecret: (webhookId, options) => call('rotateWebhookSecret', { id: webhookId }, options),
    ping: (webhookId, options) => call('pingWebhook', { id: webhookId }, options),
    sendEvent: (webhookId, event, options) =>
      call('sendWebhookEvent', { id: webhookId, body: event }, options),
    listAttempts: (webhookId, options) => call('listWebhookAttempts', { id: webhookId }, options),
  };
}
