import Type from 'typebox';
import { after } from '../../../soon.ts';
import { WebhookSchema } from '../../../webhooks/webhook.ts';
import { defineOperation } from '../../operation.ts';
import { cursorField, defaultLimit, invalidCursor, limitField, limitMax } from '../page-query.ts';
import { disabled, enabled } from './examples.ts';

const cursorRule = 'must be copied from the Link of a page of webhooks';

const ListWebhooksQuery = Type.Object({
  limit: Type.Optional(limitField('webhooks')),
  cursor: Type.Optional(cursorField(cursorRule, 'BAAAAAAAAAAqrK1CcODeb8rGtA')),
});

/** `GET /webhooks`: returns a page of the webhooks of the account (contract section 14). */
export const listWebhooks = defineOperation({
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  tag: 'webhooks',
  scope: 'webhooks:manage',
  stability: 'beta',
  summary: 'List webhooks',
  description:
    'Returns the webhooks of the account, newest first. Follow the `Link` with `rel="next"` until there is none.',
  query: ListWebhooksQuery,
  answers: {
    200: {
      description: 'A page of webhooks.',
      body: Type.Array(WebhookSchema, { maxItems: limitMax }),
      headers: ['Link'],
      examples: {
        page: { summary: 'Two webhooks', value: [{ ...disabled, id: 'wh_9sLq2ZmX0aLr5VnD' }, enabled] },
        empty: { summary: 'No webhook', value: [] },
      },
    },
  },

  handle({ query: { limit = defaultLimit, cursor }, caller }, { webhooks, cursors, baseUrl }) {
    const list = `/webhooks?of=${caller.accountId}`;
    const newestId = cursor === undefined ? null : cursors.read(cursor, list);
    if (cursor !== undefined && newestId === null) throw invalidCursor(cursorRule);
    return after(webhooks.list(caller.accountId, limit, newestId), (page) => {
      const text = JSON.stringify(page.webhooks);
      if (page.nextNewestId === null) return { status: 200, text };
      const next = cursors.write(list, page.nextNewestId);
      const link = `<${baseUrl}/webhooks?limit=${limit}&cursor=${next}>; rel="next"`;
      return { status: 200, text, headers: { link } };
    });
  },
});
