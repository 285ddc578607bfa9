import Type from 'typebox';
import type { EventIds } from '../../../events/event-ids.ts';
import { enumField } from '../../../schema.ts';
import type { ListedWebhook } from '../../../webhooks/operator-webhooks.ts';
import { AfterSchema, readAfter, readEventId, writeAfter } from '../../../webhooks/webhook.ts';
import { answers } from '../answers.ts';
import { int64Filter, operation, pageRows, textFilter } from '../operation.ts';

export const webhookFilters = ['enabled', 'failing', 'disabled'] as const;

const filters = {
  account: textFilter,
  status: Type.Optional(enumField(webhookFilters, 'The status.')),
  before: int64Filter,
};
const resumeFields = { fromNow: Type.Optional(Type.Boolean()) };
const sendFields = { eventId: Type.String({ maxLength: 100 }) };
const path = '/webhooks/{webhookId}';

/** Converts a webhook for a page. `after` is the webhook's position as an event id, as in the public API. */
export function toShownWebhook({ position, ...webhook }: ListedWebhook, ids: EventIds) {
  return { ...webhook, after: writeAfter(position, ids) };
}

export const webhookOperations = [
  /** Returns a page of the webhooks of all accounts, and the oldest event from which a replay can start. */
  operation(
    'listWebhooks',
    'GET /webhooks',
    'reader',
    { summary: 'List the webhooks of all accounts', fields: filters, answer: answers.webhooks },
    async (query, { allWebhooks, eventIds }) => {
      const { account, status, before } = query;
      const filter = { limit: pageRows, account, status, newestId: before };
      const { listPage, readOldest, readLag } = allWebhooks;
      const reads = [listPage(filter), readOldest(), readLag()] as const;
      const [page, oldest, { disabled }] = await Promise.all(reads);
      const items = page.items.map((webhook) => toShownWebhook(webhook, eventIds));
      return { items, next: page.next, oldest: eventIds.write(oldest), onHold: disabled.restored };
    },
  ),

  operation(
    'getWebhook',
    `GET ${path}`,
    'reader',
    { summary: 'Show a webhook and its last attempts', answer: answers.webhook },
    async ({ webhookId }, { allWebhooks, eventIds }) => {
      const [found, oldest] = await Promise.all([allWebhooks.get(webhookId), allWebhooks.readOldest()]);
      const attempts = found.attempts.map((attempt, index) => ({ id: index, ...attempt }));
      const webhook = toShownWebhook(found.webhook, eventIds);
      return { webhook, attempts, left: found.left, oldest: eventIds.write(oldest) };
    },
  ),

  operation(
    'sendEvent',
    `POST ${path}/send`,
    'support',
    { summary: 'Send an event to a webhook once more', fields: sendFields },
    async ({ webhookId, eventId }, { allWebhooks, eventIds }) =>
      allWebhooks.send(webhookId, eventId, readEventId(eventId, eventIds)),
  ),

  operation(
    'enableWebhook',
    `POST ${path}/enable`,
    'support',
    { summary: 'Enable a webhook' },
    ({ webhookId }, { allWebhooks }) => allWebhooks.change(webhookId, { status: 'enabled' }),
  ),
  operation(
    'disableWebhook',
    `POST ${path}/disable`,
    'support',
    { summary: 'Disable a webhook' },
    ({ webhookId }, { allWebhooks }) => allWebhooks.change(webhookId, { status: 'disabled' }),
  ),

  /** Resumes each webhook alone: one whose events are gone does not stop the others. */
  operation(
    'resumeWebhooks',
    'POST /webhooks/resume',
    'admin',
    {
      summary: 'Enable all webhooks that are on hold because the store was restored',
      description:
        'Each continues from its own position, or with `fromNow` from the end of the feed: the events until now are not sent.',
      fields: resumeFields,
      answer: answers.resumed,
    },
    ({ fromNow = false }, { allWebhooks }) => allWebhooks.resumeAll(fromNow),
  ),

  /** Sets the position of a webhook. The events after this position are sent, even if they were sent before. */
  operation(
    'replayWebhook',
    `POST ${path}/replay`,
    'admin',
    { summary: 'Set the position of a webhook', fields: { after: AfterSchema } },
    async (body, { allWebhooks, eventIds }) =>
      allWebhooks.change(body.webhookId, { after: readAfter(body.after, eventIds) }),
  ),
];
