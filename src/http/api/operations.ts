import type { Operation } from '../operation.ts';
import { getAccount } from './account.ts';
import { categoryOperations } from './categories.ts';
import { eventOperations } from './events.ts';
import { storeOperations } from './inventory.ts';
import { keyOperations } from './keys.ts';
import { orderOperations } from './orders.ts';
import { petOperations } from './pets.ts';
import { webhookMessageOperations } from './webhook-messages.ts';
import { webhookOperations } from './webhooks.ts';

/** Every operation of the public port. The reference shows the operations of a tag in this order. */
export const operations: readonly Operation[] = [
  ...petOperations,
  ...categoryOperations,
  ...storeOperations,
  ...orderOperations,
  ...eventOperations,
  getAccount,
  ...keyOperations,
  ...webhookOperations,
  ...webhookMessageOperations,
];

/** The groups of operations, in the order of the documentation. */
export const tags = [
  { name: 'pets', description: 'The animals of the catalogue.' },
  { name: 'store', description: 'What is in stock.' },
  { name: 'orders', description: 'Reservations and sales of animals.' },
  { name: 'events', description: 'Every change, in one order.' },
  { name: 'account', description: 'The account of the API key, and what is left of its limits.' },
  { name: 'keys', description: 'The API keys of the account.' },
  { name: 'webhooks', description: 'Events that the service sends to a partner when they happen.' },
  { name: 'categories', description: 'Names for the numbers that animals have as `categoryId`.' },
];
