import { type EventType, eventTypes } from '../../../events/event.ts';
import { eventExamples } from '../../api/events.ts';
import { pingMessageExample } from '../../api/webhook-messages.ts';
import { formatJson } from '../code.ts';

const meanings: Readonly<Record<EventType, string>> = {
  'pet.added': 'An animal was added.',
  'pet.updated':
    'An animal was changed. `previous` has the former values of the changed fields. Orders change their animal too.',
  'pet.deleted': 'An animal was deleted. `data` is the animal before the deletion.',
  'category.updated':
    'A category was named or renamed. `previous` is absent if the category had no name before.',
  'category.deleted': 'The name of a category was deleted.',
  'order.reserved': 'An order was placed. Its animal is `pending`.',
  'order.completed': 'An order was completed. Its animal is `sold`.',
  'order.cancelled': 'An order was cancelled. Its animal is `available` again.',
  'order.expired': 'A hold ended at its `expiresAt`. Its animal is `available` again.',
  'order.returned': 'A sold animal came back. It is `pending`, without an order.',
};

/** Writes the page of all event types as Markdown. */
export function writeEventTypes(): string {
  const parts = eventTypes.map((type) => {
    const scope = type.startsWith('order.') ? '`orders:read`' : '`pets:read`';
    return writeType(type, `${meanings[type]} Needs the scope ${scope}.`, eventExamples[type]);
  });
  const ping = 'A test that `POST /webhooks/{webhookId}/ping` sends to one webhook. It is not in the feed.';
  parts.push(writeType('webhook.ping', ping, pingMessageExample));
  return `# Event types\n\nThe [feed](../events) and [webhooks](../webhooks) contain these events. Later releases may add types and fields, so ignore what\nyour program does not know.\n\n${parts.join('\n\n')}\n`;
}

function writeType(type: string, meaning: string, example: unknown): string {
  return `## ${type}\n\n${meaning}\n\n\`\`\`json\n${formatJson(example)}\n\`\`\``;
}
