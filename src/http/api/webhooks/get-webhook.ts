import { after } from '../../../soon.ts';
import { WebhookSchema } from '../../../webhooks/webhook.ts';
import { defineOperation } from '../../operation.ts';
import { disabled, enabled } from './examples.ts';
import { readWebhookId, WebhookParams } from './webhook-id.ts';

/** `GET /webhooks/{webhookId}`: returns a webhook (contract section 14). */
export const getWebhook = defineOperation({
  id: 'getWebhook',
  method: 'GET',
  path: '/webhooks/{webhookId}',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'Get a webhook',
  description:
    'Returns one webhook of the account, with its position in the feed and the result of its last attempt.',
  params: WebhookParams,
  answers: {
    200: {
      description: 'The requested webhook.',
      body: WebhookSchema,
      examples: {
        enabled: { summary: 'An enabled webhook', value: enabled },
        disabled: { summary: 'A disabled webhook', value: disabled },
      },
    },
  },
  failures: ['not_found'],

  handle({ params, caller }, { webhooks }) {
    return after(webhooks.get(readWebhookId(params), caller.accountId), (webhook) => ({
      status: 200,
      text: JSON.stringify(webhook),
    }));
  },
});
