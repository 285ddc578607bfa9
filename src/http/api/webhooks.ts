import Type from 'typebox';
import type { Caller } from '../../accounts/account.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { eventIdExample } from '../../events/event.ts';
import { positionLost, type WebhookManager } from '../../webhooks/change-webhook.ts';
import { parseTargetUrl, targetUrlRule } from '../../webhooks/rules/target-url.ts';
import {
  NewWebhookSchema,
  readAfter,
  WebhookPatchSchema,
  WebhookSchema,
  WebhookWithSecretSchema,
  webhookIdPattern,
} from '../../webhooks/webhook.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import { eventReaderOf } from './events.ts';
import { answer, definePages, defineParameter, example, openPage, reply } from './parts.ts';

export const webhookIdExample = 'wh_8tKq2ZmX0aLr5VnC';

const url = 'https://partner.example.com/animals';
const types = ['pet.added', 'pet.updated', 'order.expired'];
const at = '2027-01-02T12:00:00.300Z';
const enabled = {
  id: webhookIdExample,
  url,
  types,
  keyId: 'key_7sGmQ2vT9xLbR4wN',
  status: 'enabled',
  disabledBecause: null,
  after: eventIdExample,
  lastAttempt: { at, result: 200 },
  nextAttemptAt: null,
};
const lastAttempt = { at, result: 'timeout' };
const failing = { ...enabled, lastAttempt, nextAttemptAt: '2027-01-02T12:00:05.100Z' };
const disabled = { ...enabled, status: 'disabled', disabledBecause: 'failing', lastAttempt };
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const withSecret = { ...enabled, lastAttempt: null, secret };

const made = { made: example('The new webhook', withSecret) };
const rotated = { rotated: example('The webhook', withSecret) };

const webhookIdFormat = new RegExp(webhookIdPattern);

export const webhookId = defineParameter(
  'webhookId',
  'webhook',
  Type.String({
    maxLength: 64,
    pattern: '^[0-9A-Za-z_]+$',
    description: 'Identifier of the webhook.',
    examples: [webhookIdExample],
  }),
  (text) => (webhookIdFormat.test(text) ? text : null),
);

/** Returns the URL as it is stored. Throws `invalid_body` if a webhook may not have this URL. */
function requireTargetUrl(text: string, allowsHttp: boolean): string {
  const target = parseTargetUrl(text, allowsHttp);
  if (target === null) throw new AppError('invalid_body', `url ${targetUrlRule}`);
  return target.href;
}

/** Returns the calling key with its rights to read events. */
export function managerOf(caller: Caller, clock: Clock): WebhookManager {
  return { ...eventReaderOf(caller), keyId: caller.keyId, nowMs: clock() };
}

export const webhookOperations: readonly Operation[] = [
  defineOperation('listWebhooks', 'GET /webhooks', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'List webhooks',
    description:
      'Returns the webhooks of the account, newest first. Follow the `Link` with `rel="next"` until there is none.',
    ...definePages('webhooks', {
      item: WebhookSchema,
      cursor: 'BAAAAAAAAAAqrK1CcODeb8rGtA',
      examples: {
        page: example('Two webhooks', [{ ...disabled, id: 'wh_9sLq2ZmX0aLr5VnD' }, enabled]),
        empty: example('No webhook', []),
      },
    }),

    async handle({ query, caller: { accountId } }, services) {
      const page = openPage({ path: '/webhooks', of: accountId }, query, services);
      const { items, next } = await services.webhooks.list(accountId, page.limit, page.start);
      return { status: 200, text: JSON.stringify(items), headers: page.linkTo(next) };
    },
  }),

  defineOperation('createWebhook', 'POST /webhooks', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Create a webhook',
    description:
      'Sends events to a URL from now on, one in each POST, in the order of the feed. Each request has a Standard Webhooks 1.0.0 signature, made with the `secret` in this response. The secret is shown only once. `types` may name only events that the calling key can read; the default is all of them. An account has at most 5 webhooks.',
    body: NewWebhookSchema,
    bodyExamples: {
      some: example('Some types', { url, types }),
      all: example('All that the key may read', { url }),
    },
    answers: answer(201, 'The webhook is created.', WebhookWithSecretSchema, made, [
      'Location',
      'Cache-Control',
    ]),
    failures: { limit_reached: 'this account has 5 webhooks, the most that an account may have' },

    async handle({ body, caller }, { webhooks, allowsHttp, baseUrl, clock }) {
      const target = requireTargetUrl(body.url, allowsHttp);
      const order = { url: target, types: body.types ?? null };
      const added = await webhooks.add(order, managerOf(caller, clock));
      const headers = { location: `${baseUrl}/webhooks/${added.id}`, 'cache-control': 'no-store' };
      return { status: 201, text: JSON.stringify(added), headers };
    },
  }),

  defineOperation('getWebhook', 'GET /webhooks/{webhookId}', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Get a webhook',
    description:
      'Returns one webhook of the account, with its position in the feed, the result of its last attempt, and the time of the next one while a retry waits.',
    params: webhookId,
    answers: answer(200, 'The requested webhook.', WebhookSchema, {
      enabled: example('An enabled webhook', enabled),
      failing: example('A webhook that waits for a retry', failing),
      disabled: example('A disabled webhook', disabled),
    }),

    handle: async ({ params, caller }, { webhooks }) =>
      reply(200, webhooks.get(webhookId.read(params), caller.accountId)),
  }),

  defineOperation('updateWebhook', 'PATCH /webhooks/{webhookId}', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Change a webhook',
    description:
      'Changes the fields that the body names and leaves the others. With `after` the webhook continues after that event and sends the later ones again. `url`, `status` and `after` restart the retries. If the events after the webhook’s position are no longer kept, enable it together with `after`. The key must be able to read all events of the webhook.',
    params: webhookId,
    body: WebhookPatchSchema,
    bodyTypes: jsonTypes.mergePatch,
    bodyExamples: {
      enabled: example('Send again', { status: 'enabled' }),
      replayed: example('Continue after an event', { after: enabled.after }),
    },
    answers: answer(200, 'The webhook as it is now.', WebhookSchema, {
      changed: example('The changed webhook', enabled),
    }),
    failures: { position_lost: positionLost().message },

    async handle({ params, body, caller }, { webhooks, eventIds, allowsHttp, clock }) {
      const { url: text, types, status, after } = body;
      const target = text === undefined ? text : requireTargetUrl(text, allowsHttp);
      const position = after === undefined ? after : readAfter(after, eventIds);
      const change = { url: target, types, status, after: position };
      return reply(200, webhooks.change(webhookId.read(params), change, managerOf(caller, clock)));
    },
  }),

  defineOperation('deleteWebhook', 'DELETE /webhooks/{webhookId}', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Delete a webhook',
    isDrastic: true,
    description:
      'Ends a webhook for good. An attempt that is under way may still arrive. The key must be able to read all events of the webhook.',
    params: webhookId,
    answers: answer(204, 'The webhook is deleted.'),

    handle: async ({ params, caller }, { webhooks, clock }) =>
      reply(204, webhooks.remove(webhookId.read(params), managerOf(caller, clock))),
  }),

  defineOperation('rotateWebhookSecret', 'POST /webhooks/{webhookId}/rotate-secret', 'webhooks:manage', {
    guide: 'webhooks',
    summary: 'Rotate the secret of a webhook',
    isDrastic: true,
    description:
      'Gives the webhook a new secret, which is shown only once. For 24 hours requests are signed with both the old and the new secret. The key must be able to read all events of the webhook.',
    params: webhookId,
    answers: answer(200, 'The webhook with its new secret.', WebhookWithSecretSchema, rotated, [
      'Cache-Control',
    ]),

    async handle({ params, caller }, { webhooks, clock }) {
      const webhook = await webhooks.rotateSecret(webhookId.read(params), managerOf(caller, clock));
      return { status: 200, text: JSON.stringify(webhook), headers: { 'cache-control': 'no-store' } };
    },
  }),
];
