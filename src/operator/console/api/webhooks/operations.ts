import { disableWebhook, enableWebhook, replayWebhook } from './change-webhook.ts';
import { listWebhooks } from './list-webhooks.ts';

export const webhookOperations = [listWebhooks, enableWebhook, disableWebhook, replayWebhook];
