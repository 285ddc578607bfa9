import { AppError } from '../../../errors.ts';
import { describeTargetUrl, isTargetUrl } from '../../../webhooks/rules/target-url.ts';
import { NewWebhookSchema, WebhookWithSecretSchema } from '../../../webhooks/webhook.ts';
import { defineOperation } from '../../operation.ts';
import { readerOf } from '../events/event-reader.ts';
import { url, withSecret } from './examples.ts';

/** `POST /webhooks`: creates a webhook (contract section 14). */
export const createWebhook = defineOperation({
  id: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'Create a webhook',
  description:
    'Sends events to a URL from now on, one in each POST, in the order of the feed. Each request has a Standard Webhooks 1.0.0 signature, made with the `secret` in this answer. The secret is shown only once. `types` may name only events that the calling key can read; the default is all of them. An account has at most 5 webhooks.',
  body: NewWebhookSchema,
  bodyExamples: {
    all: { summary: 'All that the key may read', value: { url } },
    some: { summary: 'Some types', value: { url, types: ['pet.added', 'pet.updated', 'order.expired'] } },
  },
  answers: {
    201: {
      description: 'The webhook is created.',
      body: WebhookWithSecretSchema,
      headers: ['Location', 'Cache-Control'],
      examples: { made: { summary: 'The new webhook', value: withSecret } },
    },
  },
  failures: ['limit_reached'],

  async handle({ body, caller }, { webhooks, allowsHttp, baseUrl }) {
    requireTargetUrl(body.url, allowsHttp);
    const order = { url: body.url, types: body.types ?? null, keyId: caller.keyId };
    const made = await webhooks.add(order, readerOf(caller));
    const headers = { location: `${baseUrl}/webhooks/${made.id}`, 'cache-control': 'no-store' };
    return { status: 201, text: JSON.stringify(made), headers };
  },
});

/** Throws `invalid_body` if a webhook may not have this URL. */
export function requireTargetUrl(text: string, allowsHttp: boolean): void {
  if (!isTargetUrl(text, allowsHttp))
    throw new AppError('invalid_body', `url ${describeTargetUrl(allowsHttp)}`);
}
