import Type from 'typebox';
import { AfterSchema, readAfter } from '../../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../../operation.ts';

/** Enables a webhook, which continues from its position. */
export const enableWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/enable',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).allWebhooks.enable(params['webhookId'] ?? '');
  },
});

/** Disables a webhook, which keeps its position. */
export const disableWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/disable',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).allWebhooks.disable(params['webhookId'] ?? '');
  },
});

/** Sets the position of a webhook to an event. */
export const replayWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/replay',
  body: Type.Object({ after: AfterSchema }),

  async handle({ params, body: { after }, signedIn }, { actAs, eventIds }) {
    await actAs(signedIn).allWebhooks.replay(params['webhookId'] ?? '', readAfter(after, eventIds));
  },
});
