import Type from 'typebox';
import { webhookIdPattern } from '../../../webhooks/webhook.ts';
import { webhookNotFound } from '../../../webhooks/webhook-works.ts';
import { webhookIdExample } from './examples.ts';

export const WebhookParams = Type.Object({
  webhookId: Type.String({
    maxLength: 64,
    pattern: '^[0-9A-Za-z_]+$',
    description: 'Identifier of the webhook.',
    examples: [webhookIdExample],
  }),
});

const webhookIdFormat = new RegExp(webhookIdPattern);

/** Returns the webhook id in the path. Throws `not_found` if the text cannot be a webhook id. */
export function readWebhookId({ webhookId = '' }: Readonly<Record<string, string | undefined>>): string {
  if (!webhookIdFormat.test(webhookId)) throw webhookNotFound();
  return webhookId;
}
