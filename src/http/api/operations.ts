import type { Environment } from '../../config.ts';
import { holdSeconds } from '../../orders/order.ts';
import type { Operation } from '../operation.ts';
import { getAccount } from './account.ts';
import { listRequests } from './account-requests.ts';
import { categoryOperations } from './categories.ts';
import { eventOperations } from './events.ts';
import { storeOperations } from './inventory.ts';
import { keyOperations } from './keys.ts';
import { createOrderOperations } from './orders.ts';
import { petOperations } from './pets.ts';
import { webhookMessageOperations } from './webhook-messages.ts';
import { webhookOperations } from './webhooks.ts';

/** Returns every operation of the public port. The reference shows the operations of a tag in this order. */
export const listOperations = (environment: Environment): readonly Operation[] => [
  ...petOperations,
  ...categoryOperations,
  ...storeOperations,
  ...createOrderOperations(environment === 'development' ? holdSeconds.developmentMin : holdSeconds.min),
  ...eventOperations,
  getAccount,
  listRequests,
  ...keyOperations,
  ...webhookOperations,
  ...webhookMessageOperations,
];

/** The operations outside of development. */
export const operations = listOperations('production');

/** The groups of operations, in the order of the documentation. */
export const tags = [
  { name: 'pets', description: 'The animals of the catalogue.' },
  { name: 'store', description: 'What is in stock.' },
  { name: 'orders', description: 'Reservations and sales of animals.' },
  { name: 'events', description: 'Every change, in one order.' },
  {
    name: 'account',
    description: 'The account of the API key, what is left of its limits, and its failed requests.',
  },
  { name: 'keys', description: 'The API keys of the account.' },
  { name: 'webhooks', description: 'Events that the service sends to a partner when they happen.' },
  { name: 'categories', description: 'Names for the numbers that animals have as `categoryId`.' },
];
