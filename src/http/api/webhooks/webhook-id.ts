import Type from 'typebox';
import { webhookIdExample } from './examples.ts';

export const WebhookParams = Type.Object({
  webhookId: Type.String({
    maxLength: 64,
    pattern: '^[0-9A-Za-z_]+$',
    description: 'Identifier of the webhook.',
    examples: [webhookIdExample],
  }),
});

/**
 * Returns the webhook id in the path. Its format is not checked, because the lookup finds no webhook with an invalid
 * id.
 */
export function readWebhookId({ webhookId = '' }: Readonly<Record<string, string | undefined>>): string {
  return webhookId;
}
