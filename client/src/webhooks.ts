import type { Call } from './answer.ts';
import { attachResponse, isDeleted, readCallOptions, type WithResponse, writeBody } from './call.ts';
import { argumentError } from './errors.ts';
import {
  type ListWebhooksQuery,
  type NewWebhook,
  operations,
  type Webhook,
  type WebhookPatch,
  type WebhookWithSecret,
} from './generated.ts';
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
  ping(webhookId: string, options?: CallOptions): Promise<WithResponse<{ readonly id: string }>>;
}

type SendOne = <T extends Webhook>(call: Call<T>, options: CallOptions) => Promise<WithResponse<T>>;

type Operation = 'getWebhook' | 'updateWebhook' | 'deleteWebhook' | 'rotateWebhookSecret' | 'pingWebhook';

export function createWebhooks(send: Transport): Webhooks {
  const sendOne: SendOne = async (call, options) => {
    const { value, response } = await send(call, options);
    return attachResponse({ value: withNumber(value), response });
  };

  return {
    ...createLists<Webhook, WebhooksListOptions>(send, 'listWebhooks', {
      isItem: isWebhook,
      convert: withNumber,
    }),

    async create(webhook, options) {
      const { signal } = readCallOptions(options);
      const { path } = operations.createWebhook;
      const body = writeBody('webhook', webhook);
      const call = { operation: 'createWebhook', path, body, isExpected: hasSecret } as const;
      return sendOne(call, { signal });
    },

    async get(webhookId, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('getWebhook', webhookId);
      return sendOne({ operation: 'getWebhook', path, isExpected: isWebhook }, { signal });
    },

    async update(webhookId, patch, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('updateWebhook', webhookId);
      const body = writeBody('patch', patch);
      const call = { operation: 'updateWebhook', path, body, isExpected: isWebhook } as const;
      return sendOne(call, { signal });
    },

    async delete(webhookId, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('deleteWebhook', webhookId);
      await send({ operation: 'deleteWebhook', path, isExpected: isDeleted }, { signal });
    },

    async rotateSecret(webhookId, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('rotateWebhookSecret', webhookId);
      const call = { operation: 'rotateWebhookSecret', path, isExpected: hasSecret } as const;
      return sendOne(call, { signal });
    },

    async ping(webhookId, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('pingWebhook', webhookId);
      return attachResponse(await send({ operation: 'pingWebhook', path, isExpected: isPing }, { signal }));
    },
  };
}

/** Converts an HTTP status in `lastAttempt.result` from a bigint to a number. */
function withNumber<T extends Webhook>(webhook: T): T {
  const { lastAttempt } = webhook;
  if (lastAttempt === null) return webhook;
  const result = /^\d+$/.test(String(lastAttempt.result)) ? Number(lastAttempt.result) : lastAttempt.result;
  return { ...webhook, lastAttempt: { ...lastAttempt, result } };
}

function pathOf(operation: Operation, webhookId: string): string {
  if (typeof webhookId !== 'string' || !/^\w{1,64}$/.test(webhookId))
    throw argumentError('webhookId', 'must be the id of a webhook');
  return operations[operation].path.replace('{webhookId}', webhookId);
}

function isWebhook(value: unknown): value is Webhook {
  if (typeof value !== 'object' || value === null) return false;
  const { id, url, types, status } = value as Record<string, unknown>;
  return [id, url, status].every((text) => typeof text === 'string') && Array.isArray(types);
}

function hasSecret(value: unknown): value is WebhookWithSecret {
  return isWebhook(value) && 'secret' in value && typeof value.secret === 'string';
}

function isPing(value: unknown): value is { readonly id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}
