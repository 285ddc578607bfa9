import Type from 'typebox';
import { CategoryEventSchema, eventIdExample, OrderEventSchema, PetEventSchema } from '../../events/event.ts';
import { enumField, namedObject, timeField } from '../../schema.ts';
import { expiredEvent, tooManyRequested, webhookNotFound } from '../../webhooks/change-webhook.ts';
import { AttemptSchema, SendSchema } from '../../webhooks/webhook.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { readerOf } from './events.ts';
import { readWebhookId, WebhookParams } from './webhooks.ts';

const pingLength = 21;
/** The id of a ping in examples. */
const pingExample = 'ping_Ah7mQ0vXb3ZkLr5T';

/** The body of a ping in examples. */
export const pingMessageExample = {
  id: pingExample,
  type: 'webhook.ping',
  timestamp: '2027-01-02T12:00:00.000Z',
  data: {},
};

const pingId = Type.String({
  minLength: pingLength,
  maxLength: pingLength,
  pattern: '^ping_[0-9A-Za-z]{16}$',
  description: 'The `webhook-id` of the ping.',
});

const PingSchema = namedObject('Ping', 'A requested ping.', { id: pingId });

const PingEventSchema = namedObject('PingEvent', 'A test message to a webhook.', {
  id: pingId,
  type: enumField(['webhook.ping'], 'Always `webhook.ping`.'),
  timestamp: timeField('When the ping was sent, by the clock of the store.'),
  data: Type.Object({}, { description: 'Empty.' }),
});

export const WebhookMessageSchema = Type.Union(
  [PetEventSchema, CategoryEventSchema, OrderEventSchema, PingEventSchema],
  { title: 'WebhookMessage', about: 'What the service sends to a webhook.' },
);

const pingWebhook = defineOperation({
  id: 'pingWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/ping',
  scope: 'webhooks:manage',
  summary: 'Ping a webhook',
  description:
    'Sends one `webhook.ping` that is not part of the feed, even if the webhook is disabled. `lastAttempt` shows its result. The key must be able to read all events of the webhook.',
  params: WebhookParams,
  answers: {
    202: {
      description: 'The ping is sent within seconds.',
      body: PingSchema,
      examples: { ping: { summary: 'The ping', value: { id: pingExample } } },
    },
  },
  failures: { not_found: webhookNotFound().message, limit_reached: tooManyRequested().message },

  async handle({ params, caller }, { webhooks }) {
    const id = await webhooks.ping(readWebhookId(params), readerOf(caller));
    return { status: 202, body: { id } };
  },
});

const sendWebhookEvent = defineOperation({
  id: 'sendWebhookEvent',
  method: 'POST',
  path: '/webhooks/{webhookId}/send',
  scope: 'webhooks:manage',
  summary: 'Send an event once more',
  description:
    'Sends one event of the types of the webhook once more, beside the feed, even if the webhook is disabled. The position of the webhook stays. `GET …/attempts` shows the result. The key must be able to read all events of the webhook.',
  params: WebhookParams,
  body: SendSchema,
  bodyExamples: { event: { summary: 'An event', value: { eventId: eventIdExample } } },
  answers: {
    202: {
      description: 'The event is sent within seconds.',
      body: SendSchema,
      examples: { event: { summary: 'The event', value: { eventId: eventIdExample } } },
    },
  },
  failures: {
    not_found: webhookNotFound().message,
    events_expired: expiredEvent().message,
    limit_reached: tooManyRequested().message,
  },

  async handle({ params, body: { eventId }, caller }, { webhooks }) {
    await webhooks.send(readWebhookId(params), eventId, readerOf(caller));
    return { status: 202, body: { eventId } };
  },
});

const attemptExamples = [
  { eventId: 'evt_0000000001HtM2kQ', at: '2027-01-02T12:00:00.300Z', result: 204, durationMs: 85 },
  { eventId: 'evt_0000000001HtM2kQ', at: '2027-01-02T11:59:55.100Z', result: 'timeout', durationMs: 15_002 },
];

const listWebhookAttempts = defineOperation({
  id: 'listWebhookAttempts',
  method: 'GET',
  path: '/webhooks/{webhookId}/attempts',
  scope: 'webhooks:manage',
  summary: 'List the attempts of a webhook',
  description:
    'Returns the last 100 attempts of the last 7 days to send a message to the webhook, newest first. An answer is never kept.',
  params: WebhookParams,
  answers: {
    200: {
      description: 'The attempts.',
      body: Type.Array(AttemptSchema, { maxItems: 100 }),
      examples: {
        attempts: { summary: 'A timeout and a success', value: attemptExamples },
        empty: { summary: 'No attempt', value: [] },
      },
    },
  },
  failures: { not_found: webhookNotFound().message },

  async handle({ params, caller }, { webhooks }) {
    const attempts = await webhooks.listAttempts(readWebhookId(params), caller.accountId);
    return { status: 200, text: JSON.stringify(attempts) };
  },
});

/** The operations that send to webhooks, and their results. */
export const webhookMessageOperations: readonly Operation[] = [
  pingWebhook,
  sendWebhookEvent,
  listWebhookAttempts,
];
