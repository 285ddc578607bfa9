import type { Categories } from '../../categories/categories.ts';
import type { Clock } from '../../clock.ts';
import type { EventIds } from '../../events/event-ids.ts';
import type { Feed } from '../../events/feed.ts';
import type { CountInventory } from '../../inventory/inventory.ts';
import type { Orders } from '../../orders/orders.ts';
import type { Catalogue } from '../../pets/catalogue.ts';
import type { Cursors } from '../request/cursor.ts';

/** What the operations work with. */
export interface Services {
  readonly catalogue: Catalogue;
  readonly countInventory: CountInventory;
  readonly orders: Orders;
  readonly categories: Categories;
  readonly feed: Feed;
  readonly eventIds: EventIds;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** What the links of answers begin with: the public base address, or `/v1`. */
  readonly baseUrl: string;
}
