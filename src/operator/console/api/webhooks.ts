import Type from 'typebox';
import type { EventIds } from '../../../events/event-ids.ts';
import { enumField } from '../../../schema.ts';
import type { ListedWebhook } from '../../../webhooks/operator-webhooks.ts';
import {
  AfterSchema,
  readAfter,
  readEventId,
  type WebhookStatus,
  writeAfter,
} from '../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, textFilter } from './fields.ts';

/** Converts a webhook for a page. `after` is the webhook's position as an event id, as in the public API. */
export function toShownWebhook({ position, ...webhook }: ListedWebhook, ids: EventIds) {
  return { ...webhook, after: writeAfter(position, ids) };
}

/** Returns a page of the webhooks of all accounts, and the oldest event from which a replay can start. */
const listWebhooks = defineConsoleOperation({
  method: 'GET',
  path: '/webhooks',
  query: Type.Object({
    account: textFilter,
    status: Type.Optional(enumField(['enabled', 'failing', 'disabled'], 'The status.')),
    before: beforeField,
  }),

  async handle({ query: { account = null, status = null, before = null } }, { allWebhooks, eventIds }) {
    const filter = { limit: pageRows, account, status, newestId: before };
    const [page, oldest] = await Promise.all([allWebhooks.listPage(filter), allWebhooks.readOldest()]);
    return {
      items: page.items.map((webhook) => toShownWebhook(webhook, eventIds)),
      next: page.next,
      oldest: eventIds.write(oldest),
    };
  },
});

/** Returns a webhook with its last attempts. */
const showWebhook = defineConsoleOperation({
  method: 'GET',
  path: '/webhooks/{webhookId}',

  async handle({ params: { webhookId = '' } }, { allWebhooks, eventIds }) {
    const [found, oldest] = await Promise.all([allWebhooks.get(webhookId), allWebhooks.readOldest()]);
    const attempts = found.attempts.map((attempt, index) => ({ id: index, ...attempt }));
    return { webhook: toShownWebhook(found.webhook, eventIds), attempts, oldest: eventIds.write(oldest) };
  },
});

/** Sends one event to a webhook again. */
const sendEvent = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/send',
  body: Type.Object({ eventId: Type.String({ maxLength: 100 }) }),

  async handle({ params: { webhookId = '' }, body: { eventId }, changes }, { eventIds }) {
    await changes.allWebhooks.send(webhookId, eventId, readEventId(eventId, eventIds));
  },
});

/** Enables a webhook, which continues from its position, or disables it. */
function setStatus(act: 'enable' | 'disable', status: WebhookStatus) {
  return defineConsoleOperation({
    method: 'POST',
    path: `/webhooks/{webhookId}/${act}`,
    handle: ({ params: { webhookId = '' }, changes }) => changes.allWebhooks.change(webhookId, { status }),
  });
}

/** Sets the position of a webhook. The events after this position are sent, even if they were sent before. */
const replayWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/replay',
  body: Type.Object({ after: AfterSchema }),

  async handle({ params: { webhookId = '' }, body: { after }, changes }, { eventIds }) {
    await changes.allWebhooks.change(webhookId, { after: readAfter(after, eventIds) });
  },
});

export const webhookOperations = [
  listWebhooks,
  showWebhook,
  sendEvent,
  setStatus('enable', 'enabled'),
  setStatus('disable', 'disabled'),
  replayWebhook,
];
