import type { Operation } from '../operation.ts';
import { accountOperations } from './account/operations.ts';
import { categoryOperations } from './categories/operations.ts';
import { eventOperations } from './events/operations.ts';
import { keyOperations } from './keys/operations.ts';
import { orderOperations } from './orders/operations.ts';
import { petOperations } from './pets/operations.ts';
import { storeOperations } from './store/operations.ts';
import { webhookOperations } from './webhooks/operations.ts';

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
];
