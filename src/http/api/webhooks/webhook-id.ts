import Type from 'typebox';
import { webhookIdExample } from './examples.ts';

/** The path parameter of a webhook. */
export const WebhookParams = Type.Object({
  webhookId: Type.String({
    maxLength: 64,
    pattern: '^[0-9A-Za-z_]+$',
    description: 'Identifier of the webhook.',
    examples: [webhookIdExample],
  }),
});

/** The webhook id in the path. It is not checked: an unknown id is not found. */
export function readWebhookId({ webhookId = '' }: Readonly<Record<string, string | undefined>>): string {
  return webhookId;
}
