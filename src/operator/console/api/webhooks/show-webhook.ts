import type { EventIds } from '../../../../events/event-ids.ts';
import type { ListedWebhook } from '../../../../webhooks/operator-webhooks.ts';
import { writeAfter } from '../../../../webhooks/webhook.ts';

/**
 * Converts a webhook for a page of the console. `after` is the webhook's position as an event id, as in the public API.
 */
export function showWebhook({ position, ...webhook }: ListedWebhook, ids: EventIds) {
  return { ...webhook, after: writeAfter(position, ids) };
}
