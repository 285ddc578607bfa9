import { defineOperation } from '../../operation.ts';
import { readerOf } from '../events/event-reader.ts';
import { readWebhookId, WebhookParams } from './webhook-id.ts';

/** `DELETE /webhooks/{webhookId}`: deletes a webhook (contract section 14). */
export const deleteWebhook = defineOperation({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/{webhookId}',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'Delete a webhook',
  description:
    'Ends a webhook for good. An attempt that is under way may still arrive. The key must be able to read all events of the webhook.',
  params: WebhookParams,
  answers: { 204: { description: 'The webhook is deleted.' } },
  failures: ['not_found'],

  async handle({ params, caller }, { webhooks }) {
    await webhooks.remove(readWebhookId(params), readerOf(caller));
    return { status: 204 };
  },
});
