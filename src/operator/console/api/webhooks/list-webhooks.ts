import Type from 'typebox';
import { WebhookStatusSchema } from '../../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { beforeField, pageRows, textFilter } from '../fields.ts';
import { showWebhook } from './show-webhook.ts';

/** Returns a page of the webhooks of all accounts, and the oldest event from which a replay can start. */
export const listWebhooks = defineConsoleOperation({
  method: 'GET',
  path: '/webhooks',
  query: Type.Object({
    account: textFilter,
    status: Type.Optional(WebhookStatusSchema),
    before: beforeField,
  }),

  async handle({ query: { account = null, status = null, before = null } }, { allWebhooks, eventIds }) {
    const filter = { limit: pageRows, account, status, newestId: before };
    const [page, oldest] = await Promise.all([allWebhooks.listPage(filter), allWebhooks.readOldest()]);
    return {
      items: page.webhooks.map((webhook) => showWebhook(webhook, eventIds)),
      next: page.nextNewestId,
      oldest: eventIds.write(oldest),
    };
  },
});
