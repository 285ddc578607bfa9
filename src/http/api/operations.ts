import type { Operation } from '../operation.ts';
import { accountOperations } from './account.ts';
import { categoryOperations } from './categories.ts';
import { eventOperations } from './events.ts';
import { keyOperations } from './keys.ts';
import { orderOperations } from './orders.ts';
import { petOperations } from './pets.ts';
import { storeOperations } from './store.ts';
import { webhookMessageOperations } from './webhook-messages.ts';
import { webhookOperations } from './webhooks.ts';

/** Every operation of the public port. The reference shows the operations of a tag in this order. */
export const operations: readonly Operation[] = [
  ...petOperations,
  ...categoryOperations,
  ...storeOperations,
  ...orderOperations,
  ...eventOperations,
  ...accountOperations,
  ...keyOperations,
  ...webhookOperations,
  ...webhookMessageOperations,
];
