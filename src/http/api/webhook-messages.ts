import Type from 'typebox';
import {
  CategoryEventSchema,
  eventIdExample,
  OrderEventSchema,
  OtherEventSchema,
  PetEventSchema,
} from '../../events/event.ts';
import { expiredEvent } from '../../events/feed-page.ts';
import { toPrintableJson } from '../../observability/safe-text.ts';
import { enumField, fixedText, namedObject, timeField } from '../../schema.ts';
import { tooManyRequested } from '../../webhooks/requested-messages.ts';
import { AttemptSchema, SendSchema } from '../../webhooks/webhook.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { eventReaderOf } from './events.ts';
import { answer, example } from './parts.ts';
import { managerOf, webhookId } from './webhooks.ts';

const pingExample = 'ping_Ah7mQ0vXb3ZkLr5T';

export const pingMessageExample = {
  id: pingExample,
  type: 'webhook.ping',
  timestamp: '2027-01-02T12:00:00.000Z',
  data: {},
};

const pingId = fixedText(21, '^ping_[0-9A-Za-z]{16}$', 'The `webhook-id` of the ping.');

const PingSchema = namedObject('Ping', 'A requested ping.', { id: pingId });

const PingEventSchema = namedObject('PingEvent', 'A test message to a webhook.', {
  id: pingId,
  type: enumField(['webhook.ping'], 'Always `webhook.ping`.'),
  timestamp: timeField('When the ping was sent, by the clock of the store.'),
  data: Type.Object({}, { description: 'Empty.' }),
});

export const WebhookMessageSchema = Type.Union(
  [PetEventSchema, CategoryEventSchema, OrderEventSchema, PingEventSchema, OtherEventSchema],
  { title: 'WebhookMessage', about: 'What the service sends to a webhook. Later releases may add types.' },
);

const automatic = { eventId: 'evt_0000000001HtM2kQ', isManual: false };
const attemptExamples = [
  {
    ...automatic,
    at: '2027-01-02T12:00:30.600Z',
    result: 200,
    durationMs: 85,
    attempt: 3,
    answerStart: '{"ok":true}',
  },
  {
    ...automatic,
    at: '2027-01-02T12:00:00.300Z',
    result: 500,
    durationMs: 85,
    attempt: 2,
    answerStart: 'Internal Server Error',
  },
  {
    ...automatic,
    at: '2027-01-02T11:59:55.100Z',
    result: 'timeout',
    durationMs: 15_002,
    attempt: 1,
    answerStart: null,
  },
];

export const webhookMessageOperations: readonly Operation[] = [
  defineOperation('pingWebhook', 'POST /webhooks/{webhookId}/ping', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Ping a webhook',
    description:
      'Sends one `webhook.ping` that is not part of the feed, even if the webhook is disabled. `lastAttempt` shows its result. The key must be able to read all events of the webhook.',
    params: webhookId,
    answers: answer(202, 'The ping is sent within seconds.', PingSchema, {
      ping: example('The ping', { id: pingExample }),
    }),
    failures: { limit_reached: tooManyRequested().message },

    async handle({ params, caller }, { webhooks, clock }) {
      const id = await webhooks.ping(webhookId.read(params), managerOf(caller, clock));
      return { status: 202, body: { id } };
    },
  }),

  defineOperation('sendWebhookEvent', 'POST /webhooks/{webhookId}/send', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Send an event once more',
    description:
      'Sends one event of the types of the webhook once more, beside the feed, even if the webhook is disabled. The position of the webhook stays. `GET …/attempts` shows the result. The key must be able to read all events of the webhook.',
    params: webhookId,
    body: SendSchema,
    bodyExamples: { event: example('An event', { eventId: eventIdExample }) },
    answers: answer(202, 'The event is sent within seconds.', SendSchema, {
      event: example('The event', { eventId: eventIdExample }),
    }),
    failures: { events_expired: expiredEvent().message, limit_reached: tooManyRequested().message },

    async handle({ params, body: { eventId }, caller }, { webhooks, clock }) {
      await webhooks.send(webhookId.read(params), eventId, managerOf(caller, clock));
      return { status: 202, body: { eventId } };
    },
  }),

  defineOperation('listWebhookAttempts', 'GET /webhooks/{webhookId}/attempts', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'List the attempts of a webhook',
    description:
      'Returns the last 100 attempts of the last 7 days to send a message to the webhook, newest first, with the start of each answer. The key must be able to read all events of the webhook.',
    params: webhookId,
    answers: answer(200, 'The attempts.', Type.Array(AttemptSchema, { maxItems: 100 }), {
      attempts: example('Two failures and a success', attemptExamples),
      empty: example('No attempt', []),
    }),

    async handle({ params, caller }, { webhooks }) {
      const attempts = await webhooks.listAttempts(webhookId.read(params), eventReaderOf(caller));
      // Whoever receives messages chooses the answers, so no control character stands in the text.
      return { status: 200, text: toPrintableJson(JSON.stringify(attempts)) };
    },
  }),
];
