import type { EventIds } from '../../../../events/event-ids.ts';
import type { ListedWebhook } from '../../../../webhooks/operator-webhooks.ts';
import { writeAfter } from '../../../../webhooks/webhook.ts';

/** Converts a webhook for a page. `after` is the event at its position, as the account sees it. */
export function showWebhook({ position, ...webhook }: ListedWebhook, ids: EventIds) {
  return { ...webhook, after: writeAfter(position, ids) };
}
