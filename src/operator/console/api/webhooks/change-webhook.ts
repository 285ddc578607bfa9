import Type from 'typebox';
import { AfterSchema, readAfter } from '../../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../../operation.ts';

/** Enables a webhook. Sending continues from its position. */
export const enableWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/enable',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).allWebhooks.enable(params['webhookId'] ?? '');
  },
});

/** Disables a webhook. The webhook keeps its position. */
export const disableWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/disable',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).allWebhooks.disable(params['webhookId'] ?? '');
  },
});

/** Sets the position of a webhook. The events after this position are sent, even if they were sent before. */
export const replayWebhook = defineConsoleOperation({
  method: 'POST',
  path: '/webhooks/{webhookId}/replay',
  body: Type.Object({ after: AfterSchema }),

  async handle({ params, body: { after }, signedIn }, { actAs, eventIds }) {
    await actAs(signedIn).allWebhooks.replay(params['webhookId'] ?? '', readAfter(after, eventIds));
  },
});
