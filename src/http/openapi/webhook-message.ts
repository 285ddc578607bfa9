import { eventIdExample } from '../../events/event.ts';
import { eventExamples } from '../api/events.ts';
import { pingMessageExample, WebhookMessageSchema } from '../api/webhook-messages.ts';
import { type SharedSchemas, shareSchemas } from './schemas.ts';

const headers = {
  'webhook-id': {
    description: 'The id of the event.',
    schema: { type: 'string', maxLength: 64, pattern: '^[0-9A-Za-z_]+$' },
    example: eventIdExample,
  },
  'webhook-timestamp': {
    description: 'The time of the attempt in Unix seconds.',
    schema: { type: 'string', maxLength: 12, pattern: '^[0-9]+$' },
    example: '1798891200',
  },
  'webhook-signature': {
    description:
      'Signatures of the id, the timestamp and the body, separated by spaces. One of them must match the secret.',
    schema: { type: 'string', maxLength: 1_024, pattern: '^v1,[!-~ ]+$' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
};

/** Describes the requests that the service sends to a webhook, as `webhooks` of OpenAPI. */
export function describeWebhookMessage(schemas: SharedSchemas) {
  const bodies = { ...eventExamples, 'webhook.ping': pingMessageExample };
  const examples = Object.fromEntries(Object.entries(bodies).map(([type, value]) => [type, { value }]));
  return {
    operationId: 'receiveEvent',
    tags: ['webhooks'],
    summary: 'Receive an event',
    description:
      'The service sends one event in each POST, signed by Standard Webhooks 1.0.0. Verify the signature, store the event, then answer 2xx. A repeated event has the same `webhook-id`.',
    'x-stability': 'beta',
    security: [],
    parameters: Object.entries(headers).map(([name, header]) => ({
      name,
      in: 'header',
      required: true,
      ...header,
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: shareSchemas(WebhookMessageSchema, schemas), examples } },
    },
    responses: {
      '204': { description: 'The event is stored. Every 2xx means this.' },
      '410': { description: 'The webhook is disabled.' },
      default: { description: 'The attempt has failed. The service sends the event again later.' },
    },
  };
}
