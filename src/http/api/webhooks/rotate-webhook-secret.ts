import { WebhookWithSecretSchema } from '../../../webhooks/webhook.ts';
import { defineOperation } from '../../operation.ts';
import { readerOf } from '../events/event-reader.ts';
import { withSecret } from './examples.ts';
import { readWebhookId, WebhookParams } from './webhook-id.ts';

/** `POST /webhooks/{webhookId}/rotate-secret`: gives a webhook a new secret (contract section 14). */
export const rotateWebhookSecret = defineOperation({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/{webhookId}/rotate-secret',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'Rotate the secret of a webhook',
  description:
    'Gives the webhook a new secret, which is shown only once. For 24 hours requests are signed with both the old and the new secret. The key must be able to read all events of the webhook.',
  params: WebhookParams,
  answers: {
    200: {
      description: 'The webhook with its new secret.',
      body: WebhookWithSecretSchema,
      headers: ['Cache-Control'],
      examples: { rotated: { summary: 'The webhook', value: withSecret } },
    },
  },
  failures: ['not_found'],

  async handle({ params, caller }, { webhooks }) {
    const rotated = await webhooks.rotateSecret(readWebhookId(params), readerOf(caller));
    return { status: 200, text: JSON.stringify(rotated), headers: { 'cache-control': 'no-store' } };
  },
});
