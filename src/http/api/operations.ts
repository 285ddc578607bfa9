import type { Caller } from '../../accounts/account.ts';
import type { Keyring } from '../../accounts/keyring.ts';
import type { Categories } from '../../categories/categories.ts';
import type { Clock } from '../../clock.ts';
import type { EventIds } from '../../events/event-ids.ts';
import type { Feed } from '../../events/feed.ts';
import type { CountInventory } from '../../inventory/inventory.ts';
import type { Orders } from '../../orders/orders.ts';
import type { Catalogue } from '../../pets/catalogue.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Operation } from '../operation.ts';
import type { Cursors } from '../request/cursor.ts';
import { getAccount } from './account.ts';
import { categoryOperations } from './categories.ts';
import { eventOperations } from './events.ts';
import { storeOperations } from './inventory.ts';
import { keyOperations } from './keys.ts';
import { orderOperations } from './orders.ts';
import { petOperations } from './pets.ts';
import { webhookMessageOperations } from './webhook-messages.ts';
import { webhookOperations } from './webhooks.ts';

export interface Services {
  readonly catalogue: Catalogue;
  readonly countInventory: CountInventory;
  readonly orders: Orders;
  readonly categories: Categories;
  readonly feed: Feed;
  readonly eventIds: EventIds;
  readonly keyringOf: (caller: Pick<Caller, 'keyId' | 'accountId'>) => Keyring;
  readonly countOpenHolds: (accountId: bigint) => Promise<bigint>;
  readonly webhooks: Webhooks;
  /** True if a webhook may have an `http` URL. */
  readonly allowsHttp: boolean;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** Prefix of all links in responses: the public base URL, or `/v1` if there is none. */
  readonly baseUrl: string;
}

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
