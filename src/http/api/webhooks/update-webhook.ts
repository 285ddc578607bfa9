import { readAfter, WebhookPatchSchema, WebhookSchema } from '../../../webhooks/webhook.ts';
import { defineOperation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';
import { readerOf } from '../events/event-reader.ts';
import { requireTargetUrl } from './create-webhook.ts';
import { enabled } from './examples.ts';
import { readWebhookId, WebhookParams } from './webhook-id.ts';

/** `PATCH /webhooks/{webhookId}`: changes a webhook (contract section 14). */
export const updateWebhook = defineOperation({
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/webhooks/{webhookId}',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'Change a webhook',
  description:
    'Changes the fields that the body names and leaves the others. With `after` the webhook continues after that event and sends the later ones again. `url`, `status` and `after` restart the retries. If the events after the webhook’s position are no longer kept, enable it together with `after`. The key must be able to read all events of the webhook.',
  params: WebhookParams,
  body: WebhookPatchSchema,
  bodyTypes: jsonTypes.mergePatch,
  bodyExamples: {
    enabled: { summary: 'Send again', value: { status: 'enabled' } },
    replayed: { summary: 'Continue after an event', value: { after: enabled.after } },
  },
  answers: {
    200: {
      description: 'The webhook as it is now.',
      body: WebhookSchema,
      examples: { changed: { summary: 'The changed webhook', value: enabled } },
    },
  },
  failures: ['not_found', 'position_lost'],

  async handle({ params, body, caller }, { webhooks, eventIds, allowsHttp }) {
    const { url = null, types = null, status = null, after } = body;
    if (url !== null) requireTargetUrl(url, allowsHttp);
    const change = { url, types, status, after: after === undefined ? null : readAfter(after, eventIds) };
    const changed = await webhooks.change(readWebhookId(params), change, readerOf(caller));
    return { status: 200, text: JSON.stringify(changed) };
  },
});
