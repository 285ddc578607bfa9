import Type from 'typebox';
import { defineOperation } from '../../operation.ts';
import { readerOf } from '../events/event-reader.ts';
import { readWebhookId, WebhookParams } from './webhook-id.ts';

const pingLength = 21;

const PingSchema = Type.Object({
  id: Type.String({
    minLength: pingLength,
    maxLength: pingLength,
    pattern: '^ping_[0-9A-Za-z]{16}$',
    description: 'The `webhook-id` of the ping.',
  }),
});

/** `POST /webhooks/{webhookId}/ping`: sends a test message to a webhook (contract section 14). */
export const pingWebhook = defineOperation({
  id: 'pingWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/ping',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'Ping a webhook',
  description:
    'Sends one `webhook.ping` that is not part of the feed, even if the webhook is disabled. `lastAttempt` shows its result. The key must be able to read all events of the webhook.',
  params: WebhookParams,
  answers: {
    202: {
      description: 'The ping is sent within seconds.',
      body: PingSchema,
      examples: { ping: { summary: 'The ping', value: { id: 'ping_Ah7mQ0vXb3ZkLr5T' } } },
    },
  },
  failures: ['not_found'],

  async handle({ params, caller }, { webhooks }) {
    const id = await webhooks.ping(readWebhookId(params), readerOf(caller));
    return { status: 202, body: { id } };
  },
});
