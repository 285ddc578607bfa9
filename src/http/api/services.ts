import type { Caller } from '../../accounts/account.ts';
import type { Keyring } from '../../accounts/keyring.ts';
import type { Categories } from '../../categories/categories.ts';
import type { Clock } from '../../clock.ts';
import type { EventIds } from '../../events/event-ids.ts';
import type { Feed } from '../../events/feed.ts';
import type { CountInventory } from '../../inventory/inventory.ts';
import type { Orders } from '../../orders/orders.ts';
import type { Catalogue } from '../../pets/catalogue.ts';
import type { ListOwnRequests } from '../../usage/own-requests.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Cursors } from '../request/cursor.ts';

/** What the operations of the public port work with. */
export interface Services {
  readonly catalogue: Catalogue;
  readonly countInventory: CountInventory;
  readonly orders: Orders;
  readonly categories: Categories;
  readonly feed: Feed;
  readonly eventIds: EventIds;
  readonly keyringOf: (caller: Pick<Caller, 'keyId' | 'accountId'>) => Keyring;
  readonly countOpenHolds: (accountId: bigint) => Promise<bigint>;
  readonly listOwnRequests: ListOwnRequests;
  readonly webhooks: Webhooks;
  /** True if a webhook may have an `http` URL. */
  readonly allowsHttp: boolean;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** Prefix of all links in responses: the public base URL, or `/v1` if there is none. */
  readonly baseUrl: string;
}
